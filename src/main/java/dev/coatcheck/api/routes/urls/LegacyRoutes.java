package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.IdProblems;
import dev.coatcheck.api.routes.Items;
import dev.coatcheck.api.routes.Items.Item;
import dev.coatcheck.api.routes.Items.Shown;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.routes.PublicIdView;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.OlderId.LegacyId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.IdResolver;
import dev.coatcheck.ids.redirect.LegacyHits;
import dev.coatcheck.ids.registry.LegacyNumber;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;

/**
 * Legacy IDs for callers with an API key, {@code /v1/legacy/{type}/{n}}, and how often they are
 * still looked up, {@code /v1/types/{name}/legacy-hits}.
 */
public final class LegacyRoutes implements Routes {
  private static final int ITEMS_MAX = 1_000;
  private static final int DAYS_DEFAULT = 30;
  private static final int DAYS_MAX = 366;

  private final IdResolver ids;
  private final LegacyHits hits;
  private final Parameters parameters;

  public LegacyRoutes(IdResolver ids, LegacyHits hits, Parameters parameters) {
    this.ids = ids;
    this.hits = hits;
    this.parameters = parameters;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/legacy/{type}/{n}", Scope.IDS_READ, this::find);
    endpoints.batchInTurn("/v1/legacy/resolve", Scope.IDS_READ, this::findAll);
    endpoints.secured(
        HandlerType.GET, "/v1/types/{name}/legacy-hits", Scope.TYPES_READ, this::hits);
  }

  private Answer find(Context ctx) {
    Query.none(ctx);
    long number = Parameters.legacyNumber(ctx.pathParam("n"), "n");
    LegacyId id = new LegacyId(parameters.type(ctx, "type"), number);
    return Items.answer(found("n", id, ids.find(id)));
  }

  private static Item<Shown> found(String param, LegacyId id, ResolveOutcome outcome) {
    return switch (outcome) {
      case ResolveOutcome.Found(Mapping mapping) -> shown(PublicIdView.of(mapping), id);
      case ResolveOutcome.Merged merged -> shown(PublicIdView.of(merged), id);
      case ResolveOutcome.Revoked revoked -> new Item.Refused<>(IdProblems.revoked(param, revoked));
      case ResolveOutcome.Erased _ -> new Item.Refused<>(Problem.erased(param));
      case ResolveOutcome.Unissued _ -> new Item.Refused<>(UrlProblems.legacyUnknown(param));
    };
  }

  private static Item<Shown> shown(PublicIdView publicId, LegacyId id) {
    return Items.shown(200, publicId.named(List.of(id.alias())));
  }

  private Answer findAll(Context ctx, RequestBody request) {
    JsonObject body = request.object().allow("type", "legacy_ids");
    Type type = parameters.type(RequestCaller.types(ctx), "type", body.string("type"));
    List<String> texts = body.strings("legacy_ids", ITEMS_MAX);
    List<OptionalLong> numbers = texts.stream().map(LegacyNumber::parse).toList();
    Iterator<ResolveOutcome> outcomes =
        ids.findAll(
                numbers.stream()
                    .flatMapToLong(OptionalLong::stream)
                    .mapToObj(number -> new LegacyId(type, number))
                    .toList())
            .iterator();
    List<Item<Shown>> items = new ArrayList<>(texts.size());
    for (OptionalLong number : numbers) {
      String param = "legacy_ids[" + items.size() + "]";
      items.add(
          number.isPresent()
              ? found(param, new LegacyId(type, number.getAsLong()), outcomes.next())
              : new Item.Refused<>(Parameters.legacyMalformed(param)));
    }
    return Items.answer(items);
  }

  /** The look-ups of a type's legacy IDs on one day in UTC. */
  private record LegacyHitsView(String object, LocalDate day, long count) {
    static LegacyHitsView of(LegacyHits.DayCount hits) {
      return new LegacyHitsView("legacy_hits", hits.day(), hits.count());
    }
  }

  private Answer hits(Context ctx) {
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
