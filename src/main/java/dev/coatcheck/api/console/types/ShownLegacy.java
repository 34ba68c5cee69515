package dev.coatcheck.api.console.types;

import dev.coatcheck.api.console.page.Display;
import dev.coatcheck.api.console.page.Frame;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.redirect.CallerKind;
import dev.coatcheck.ids.redirect.LegacyCallers;
import dev.coatcheck.ids.redirect.LegacyHits;
import dev.coatcheck.ids.registry.Brownout;
import dev.coatcheck.ids.registry.LegacyPolicy;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** How often legacy IDs of each type are still looked up, by whom, and how they end. */
final class ShownLegacy {
  private static final int CALLERS_MAX = 20;

  private final Gate gate;
  private final TypePages.Verbs verbs;
  private final InstantSource clock;

  ShownLegacy(Gate gate, TypePages.Verbs verbs, InstantSource clock) {
    this.gate = gate;
    this.verbs = verbs;
    this.clock = clock;
  }

  void register(Endpoints endpoints) {
    endpoints.page(HandlerType.GET, Section.LEGACY.path(), gate.page(this::list));
    endpoints.page(HandlerType.GET, ChangePages.legacyPathOf("{name}"), gate.page(this::one));
  }

  /** A type with legacy IDs, at a time. */
  record Traffic(Type type, LegacyPolicy policy, HitChart chart, Instant now) {
    boolean isOver() {
      return policy.isOver(now);
    }

    /** What requests with a legacy ID get now. */
    String state() {
      if (isOver()) {
        return "over";
      }
      return policy.brownouts().stream().anyMatch(window -> window.isOn(now))
          ? "in a brownout"
          : policy.isPublic() ? "redirected" : "private";
    }

    String tag() {
      return switch (state()) {
        case "over" -> "tag revoked";
        case "redirected" -> "tag active";
        default -> "tag merged";
      };
    }

    String untilSunset() {
      return policy
          .sunsetAt()
          .filter(now::isBefore)
          .map(at -> "in " + Display.duration(Duration.between(now, at)))
          .orElse("past");
    }

    String state(Brownout window) {
      return window.isOn(now) ? "now" : now.isBefore(window.from()) ? "planned" : "over";
    }
  }

  record LegacyView(
      Frame frame,
      Traffic traffic,
      LocalDate first,
      List<LegacyCallers.Callers> callers,
      boolean mayChange) {
    static String heading(CallerKind kind) {
      return switch (kind) {
        case API_KEY -> "API keys";
        case USER_AGENT -> "User agents";
        case REFERRING_HOST -> "Referring hosts";
        case ADDRESS_RANGE -> "Address ranges";
      };
    }

    static String count(LegacyCallers.Caller caller) {
      return Display.number(caller.count())
          + (caller.error() == 0 ? "" : " ± " + Display.number(caller.error()));
    }

    static String share(LegacyCallers.Callers callers, LegacyCallers.Caller caller) {
      return Math.round(100.0 * Math.min(caller.count(), callers.count()) / callers.count()) + " %";
    }
  }

  private Answer list(Context ctx, Visit visit) {
    Query.none(ctx);
    Gate.require(visit, Scope.TYPES_READ);
    AllowedTypes allowed = visit.types();
    LocalDate today = verbs.hits().today();
    Map<Integer, List<LegacyHits.DayCount>> hits =
        verbs.hits().ofAll(today.minusDays(HitChart.DAYS - 1), today);
    List<Traffic> all =
        verbs.registry().all().stream()
            .filter(allowed::hold)
            .flatMap(type -> traffic(type, hits.getOrDefault(type.number(), List.of())).stream())
            .toList();
    boolean hasTypes = verbs.registry().all().stream().anyMatch(allowed::hold);
    Frame frame = visit.frame(Section.LEGACY, "Legacy traffic");
    return Html.page(
        200, (out, none) -> JtelegacyTypesGenerated.render(out, none, frame, all, hasTypes));
  }

  private Optional<Traffic> traffic(Type type, List<LegacyHits.DayCount> hits) {
    return type.legacy()
        .map(
            policy ->
                new Traffic(
                    type,
                    policy,
                    HitChart.of(verbs.hits().today(), hits, policy),
                    clock.instant()));
  }

  private Answer one(Context ctx, Visit visit) {
    Query.none(ctx);
    Gate.require(visit, Scope.TYPES_READ);
    Type type = verbs.parameters().type(visit.types(), "name", ctx.pathParam("name"));
    boolean mayChange = visit.mayChange(Scope.TYPES_WRITE);
    Frame frame = visit.frame(Section.LEGACY, "Legacy traffic of " + type.name());
    LocalDate today = verbs.hits().today();
    LocalDate first = today.minusDays(HitChart.DAYS - 1);
    Optional<Traffic> traffic = traffic(type, verbs.hits().of(type, first, today));
    if (traffic.isEmpty()) {
      return Html.page(
          200, (out, none) -> JtenoLegacyGenerated.render(out, none, frame, type, mayChange));
    }
    LegacyView view =
        new LegacyView(
            frame,
            traffic.get(),
            first,
            verbs.callers().of(type, first, today, EnumSet.allOf(CallerKind.class), CALLERS_MAX),
            mayChange);
    return Html.page(200, (out, none) -> JtelegacyTypeGenerated.render(out, none, view));
  }
}
