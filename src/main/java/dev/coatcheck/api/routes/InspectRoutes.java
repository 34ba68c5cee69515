package dev.coatcheck.api.routes;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.formats.Inspector;
import dev.coatcheck.core.formats.Inspector.Inspection;
import dev.coatcheck.core.formats.Reading;
import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.older.Decoded;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.pattern.PublicRule;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Finds what any ID can be: {@code /v1/inspect}. */
public final class InspectRoutes implements Routes {
  private final Registry registry;
  private final InstantSource clock;

  public InspectRoutes(Registry registry, InstantSource clock) {
    this.registry = registry;
    this.clock = clock;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/inspect/{text}", Scope.IDS_READ, this::inspect);
  }

  private record InspectionView(
      String object, String input, List<CandidateView> candidates, List<RefusalView> refused) {}

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record CandidateView(
      String format,
      String certainty,
      @Nullable Instant time,
      @Nullable String type,
      Map<String, Object> fields,
      boolean sortable,
      List<String> reveals) {
    static CandidateView of(Reading.Candidate candidate, Optional<Type> type) {
      return new CandidateView(
          candidate.format(),
          candidate.certainty().wireName(),
          candidate.time().orElse(null),
          type.map(Type::name).orElse(null),
          candidate.fields(),
          candidate.isSortable(),
          candidate.reveals().stream().map(Reading.Reveal::wireName).toList());
    }
  }

  private record RefusalView(String format, String reason, String detail) {
    static RefusalView of(Reading.Refusal refusal) {
      return new RefusalView(refusal.format(), refusal.flaw().wireName(), refusal.detail());
    }
  }

  private Answer inspect(Context ctx) {
    Query.none(ctx);
    String text = ctx.pathParam("text");
    AllowedTypes allowed = RequestCaller.types(ctx);
    Inspection inspection =
        Inspector.inspect(text, registry.keyLayouts(allowed::hold), clock.instant());
    Optional<Type> type = ours(text).filter(allowed::hold);
    Stream<Typed> known =
        inspection.candidates().stream()
            .map(
                candidate ->
                    new Typed(
                        candidate,
                        candidate.format().equals(Inspector.PUBLIC_ID) ? type : Optional.empty()));
    return Answer.json(
        200,
        new InspectionView(
            "inspection",
            text,
            Stream.concat(older(text, allowed), known)
                .sorted(Comparator.comparing(each -> each.candidate().certainty()))
                .map(each -> CandidateView.of(each.candidate(), each.type()))
                .toList(),
            inspection.refusals().stream().map(RefusalView::of).toList()));
  }

  private record Typed(Reading.Candidate candidate, Optional<Type> type) {}

  /** Hashids and Sqids have no recognisable shape: only the rule of a type detects them. */
  private Stream<Typed> older(String text, AllowedTypes allowed) {
    return registry.withOlderSystem().stream()
        .filter(allowed::hold)
        .flatMap(
            type ->
                type.publicRule().stream()
                    .flatMap(
                        rule ->
                            rule.decode(text).flatMap(decoded -> candidate(rule, decoded)).stream())
                    .map(candidate -> new Typed(candidate, Optional.of(type))));
  }

  /** UUIDs inside texts are keys, which the inspector detects itself. */
  private static Optional<Reading.Candidate> candidate(PublicRule rule, Decoded decoded) {
    return switch (decoded) {
      case Decoded.OfNumber(long number) ->
          Optional.of(
              new Reading.Candidate(
                  rule.decoder().scheme(),
                  rule.isMarked() ? Reading.Certainty.CERTAIN : Reading.Certainty.LIKELY,
                  Optional.empty(),
                  Map.of("number", Long.toString(number)),
                  false,
                  List.of(Reading.Reveal.VOLUME)));
      case Decoded.OfUuid _ -> Optional.empty();
    };
  }

  private Optional<Type> ours(String text) {
    return PublicId.parse(text) instanceof ParsedId.Valid(PublicId id)
        ? registry.withPrefix(id.prefix())
        : Optional.empty();
  }
}
