package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.redirect.LegacyHits;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** How often old numbers are still found: {@code /v1/types/{name}/legacy-hits}. */
public final class LegacyHitRoutes {
  private static final int DAYS_DEFAULT = 30;
  private static final int DAYS_MAX = 366;
  private static final Pattern DAY = Pattern.compile("(19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}");

  private final LegacyHits hits;
  private final Registry registry;

  public LegacyHitRoutes(LegacyHits hits, Registry registry) {
    this.hits = hits;
    this.registry = registry;
  }

  public void register(Endpoints endpoints) {
    endpoints.secured(
        HandlerType.GET, "/v1/types/{name}/legacy-hits", Scope.TYPES_READ, this::list);
  }

  private void list(Context ctx) {
    Query.allow(ctx, "from", "to");
    Type type = TypeRoutes.typeNamed(registry, "name", ctx.pathParam("name"));
    LocalDate last = day(ctx, "to").orElseGet(hits::today);
    LocalDate first = day(ctx, "from").orElseGet(() -> last.minusDays(DAYS_DEFAULT - 1));
    if (first.isAfter(last) || first.plusDays(DAYS_MAX).compareTo(last) <= 0) {
      throw Refusal.ofParameter("from", "From the first to the last: 1 to 366 days.");
    }
    List<LegacyHits.DayCount> days = hits.of(type, first, last);
    Answer.json(ctx, 200, Views.ListView.of(days.stream().map(Views.LegacyHitsView::of).toList()));
  }

  private static Optional<LocalDate> day(Context ctx, String param) {
    String text = ctx.queryParam(param);
    if (text == null) {
      return Optional.empty();
    }
    try {
      if (DAY.matcher(text).matches()) {
        return Optional.of(LocalDate.parse(text));
      }
    } catch (DateTimeParseException malformed) {
      // refused below
    }
    throw Refusal.ofParameter(param, "Send a day such as 2026-01-31.");
  }
}
