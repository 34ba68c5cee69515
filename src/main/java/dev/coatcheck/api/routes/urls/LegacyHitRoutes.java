package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.redirect.LegacyHits;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.LocalDate;

/** How often legacy IDs are still looked up: {@code /v1/types/{name}/legacy-hits}. */
public final class LegacyHitRoutes implements Routes {
  private static final int DAYS_DEFAULT = 30;
  private static final int DAYS_MAX = 366;

  private final LegacyHits hits;
  private final Parameters parameters;

  public LegacyHitRoutes(LegacyHits hits, Parameters parameters) {
    this.hits = hits;
    this.parameters = parameters;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(
        HandlerType.GET, "/v1/types/{name}/legacy-hits", Scope.TYPES_READ, this::list);
  }

  /** The look-ups of a type's legacy IDs on one day in UTC. */
  private record LegacyHitsView(String object, LocalDate day, long count) {
    static LegacyHitsView of(LegacyHits.DayCount hits) {
      return new LegacyHitsView("legacy_hits", hits.day(), hits.count());
    }
  }

  private Answer list(Context ctx) {
    Query query = Query.of(ctx, "from", "to");
    Type type = parameters.type(ctx, "name");
    LocalDate last = query.day("to").orElseGet(hits::today);
    LocalDate first = query.day("from").orElseGet(() -> last.minusDays(DAYS_DEFAULT - 1));
    if (first.isAfter(last) || first.plusDays(DAYS_MAX).compareTo(last) <= 0) {
      throw Refusal.ofParameter("from", "From the first to the last: 1 to 366 days.");
    }
    return Answer.json(
        200, ListView.of(hits.of(type, first, last).stream().map(LegacyHitsView::of).toList()));
  }
}
