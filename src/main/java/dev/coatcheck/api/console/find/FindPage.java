package dev.coatcheck.api.console.find;

import dev.coatcheck.api.console.page.Frame;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Paths;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.routes.Asked;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.core.formats.Inspector;
import dev.coatcheck.core.formats.Inspector.Inspection;
import dev.coatcheck.core.formats.Reading;
import dev.coatcheck.ids.access.ApiKey;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.Registry;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The first page: says what any text is, {@code /console?q=TEXT}. */
final class FindPage {
  private static final String TEXT = "q";

  private final Gate gate;
  private final TextFinder finder;
  private final Registry registry;
  private final InstantSource clock;

  FindPage(Gate gate, TextFinder finder, Registry registry, InstantSource clock) {
    this.gate = gate;
    this.finder = finder;
    this.registry = registry;
    this.clock = clock;
  }

  void register(Endpoints endpoints) {
    endpoints.page(HandlerType.GET, Paths.HOME, gate.page(this::show));
  }

  /**
   * What the page shows of a text.
   *
   * @param keyPath the page of the API key whose ID it may be; empty for who may not see API keys
   * @param candidates formats that the text can have, ours and others'
   * @param mayEnd whether this person may revoke and merge
   */
  record Result(
      String text,
      TextFinder.Found found,
      Optional<String> keyPath,
      List<Reading.Candidate> candidates,
      List<Reading.Refusal> refused,
      boolean mayEnd,
      boolean mayAddAliases) {
    /** Such as {@code sequence 3, worker 17}. */
    static String fields(Reading.Candidate candidate) {
      return String.join(
          ", ",
          candidate.fields().entrySet().stream()
              .map(field -> field.getKey() + " " + field.getValue())
              .toList());
    }

    static String reveals(Reading.Candidate candidate) {
      return String.join(
          ", ",
          candidate.reveals().stream()
              .map(reveal -> reveal.name().toLowerCase(Locale.ROOT).replace('_', ' '))
              .toList());
    }
  }

  private Answer show(Context ctx, Visit visit) {
    String text = Query.of(ctx, TEXT).text(TEXT).orElse("").strip();
    Optional<Section> first = Section.first(visit.rights());
    if (text.isEmpty() && !Section.FIND.isFor(visit.rights()) && first.isPresent()) {
      return Html.seeOther(first.get().path());
    }
    Gate.require(visit, Section.FIND.needed());
    Frame frame = visit.frame(Section.FIND, text.isEmpty() ? "Find" : "Find " + text);
    if (text.isEmpty()) {
      return page(200, frame, text, Optional.empty(), "");
    }
    if (text.length() > TextFinder.LENGTH_MAX || text.indexOf('\0') >= 0) {
      return page(
          400,
          frame,
          "",
          Optional.empty(),
          "An ID has at most " + TextFinder.LENGTH_MAX + " characters.");
    }
    Inspection inspection =
        Inspector.inspect(text, registry.keyLayouts(visit.types()::hold), clock.instant());
    return page(
        200,
        frame,
        text,
        Optional.of(
            new Result(
                text,
                finder.find(
                    text, visit.caller(), Asked.stranger(ctx, Map.of("Accept", "text/html"))),
                ApiKey.idOf(text)
                    .filter(_ -> Section.KEYS.isFor(visit.rights()))
                    .map(_ -> Section.KEYS.path() + "/" + text),
                inspection.candidates(),
                inspection.refusals(),
                visit.mayChange(Scope.IDS_END),
                visit.mayChange(Scope.IDS_WRITE))),
        "");
  }

  private static Answer page(
      int status, Frame frame, String text, Optional<Result> result, String fault) {
    return Html.page(
        status, (out, none) -> JtefindGenerated.render(out, none, frame, text, result, fault));
  }
}
