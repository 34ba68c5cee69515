package dev.coatcheck.api.console.audit;

import dev.coatcheck.api.console.page.Frame;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Paths;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.routes.audit.AuditRoutes;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.cluster.audit.Audit;
import dev.coatcheck.cluster.audit.RecordedEntry;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Who changed what, when and from where, {@code /console/audit}. */
public final class AuditPage {
  private static final String AFTER = "after";
  private static final int ENTRIES = 50;

  /** The filters, in the order of their fields. */
  private static final List<String> FILTERS = List.of("subject", "actor", "action", "from", "to");

  private final Gate gate;
  private final Audit audit;

  /**
   * What the page shows.
   *
   * @param filters as they were asked for, by name
   */
  record View(Frame frame, Map<String, String> filters, Audit.Page page, String fault) {
    String filter(String name) {
      return filters.getOrDefault(name, "");
    }

    /** The query of the same filters in the API. */
    String query() {
      return filters.entrySet().stream()
          .map(filter -> filter.getKey() + "=" + Paths.encoded(filter.getValue()))
          .collect(Collectors.joining("&"));
    }

    /** The page with older entries. */
    String older() {
      return Section.AUDIT.path()
          + "?"
          + (filters.isEmpty() ? "" : query() + "&")
          + AFTER
          + "="
          + page.entries().getLast().number();
    }

    /** The entries about a subject, or the public ID itself, is found under it. */
    static String about(String subject) {
      return Section.AUDIT.path() + "?subject=" + Paths.encoded(subject);
    }

    static boolean hasDetail(RecordedEntry recorded) {
      return !recorded.entry().detail().equals("{}");
    }
  }

  public AuditPage(Gate gate, Audit audit) {
    this.gate = gate;
    this.audit = audit;
  }

  public void register(Endpoints endpoints) {
    endpoints.page(HandlerType.GET, Section.AUDIT.path(), gate.page(this::show));
  }

  private Answer show(Context ctx, Visit visit) {
    Gate.require(visit, Section.AUDIT.needed());
    if (!visit.rights().allowedTypes().areAll()) {
      throw new Refusal(Problem.typeNotAllowed()); // as in the API
    }
    Query query = Query.ofForm(ctx, "subject", "actor", "action", "from", "to", AFTER);
    Map<String, String> filters = new LinkedHashMap<>();
    FILTERS.forEach(name -> query.text(name).ifPresent(text -> filters.put(name, text)));
    Frame frame = visit.frame(Section.AUDIT, "Audit");
    try {
      Audit.Page page = audit.page(AuditRoutes.filter(query), AuditRoutes.after(query), ENTRIES);
      return page(200, new View(frame, filters, page, ""));
    } catch (Refusal refused) {
      return page(
          refused.problem().code().status(),
          new View(frame, filters, new Audit.Page(List.of(), false), fault(refused.problem())));
    }
  }

  private static String fault(Problem problem) {
    return problem.members() instanceof Problem.Param(String param)
        ? param + ": " + problem.detail()
        : problem.detail();
  }

  private static Answer page(int status, View view) {
    return Html.page(status, (out, none) -> JteauditGenerated.render(out, none, view));
  }
}
