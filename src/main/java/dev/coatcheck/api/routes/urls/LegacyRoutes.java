package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.Asked;
import dev.coatcheck.api.routes.IdProblems;
import dev.coatcheck.api.routes.Items;
import dev.coatcheck.api.routes.Items.Item;
import dev.coatcheck.api.routes.Items.Shown;
import dev.coatcheck.api.routes.LegacyHeaders;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.routes.PublicIdView;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.OlderId.LegacyId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.CallerKind;
import dev.coatcheck.ids.redirect.IdOutcome;
import dev.coatcheck.ids.redirect.IdResolver;
import dev.coatcheck.ids.redirect.LegacyCallers;
import dev.coatcheck.ids.redirect.LegacyHits;
import dev.coatcheck.ids.redirect.LegacyPaused;
import dev.coatcheck.ids.registry.LegacyNumber;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Legacy IDs for callers with an API key, {@code /v1/legacy/{type}/{n}}; how often they are still
 * looked up, {@code /v1/types/{name}/legacy-hits}, and by whom, {@code
 * /v1/types/{name}/legacy-callers}.
 */
public final class LegacyRoutes implements Routes {
  private static final int ITEMS_MAX = 1_000;
  private static final int DAYS_DEFAULT = 30;
  private static final int DAYS_MAX = 366;
  private static final int CALLERS_MAX = 100;

  private final IdResolver ids;
  private final LegacyHits hits;
  private final LegacyCallers callers;
  private final Parameters parameters;
  private final Proxies proxies;

  public LegacyRoutes(
      IdResolver ids,
      LegacyHits hits,
      LegacyCallers callers,
      Parameters parameters,
      Proxies proxies) {
    this.ids = ids;
    this.hits = hits;
    this.callers = callers;
    this.parameters = parameters;
    this.proxies = proxies;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/legacy/{type}/{n}", Scope.IDS_READ, this::find);
    endpoints.batchInTurn("/v1/legacy/resolve", Scope.IDS_READ, this::findAll);
    endpoints.secured(
        HandlerType.GET, "/v1/types/{name}/legacy-hits", Scope.TYPES_READ, this::hits);
    endpoints.secured(
        HandlerType.GET, "/v1/types/{name}/legacy-callers", Scope.TYPES_READ, this::callers);
  }

  private Answer find(Context ctx) {
    Query.none(ctx);
    long number = Parameters.legacyNumber(ctx.pathParam("n"), "n");
    LegacyId id = new LegacyId(parameters.type(ctx, "type"), number);
    IdOutcome outcome = ids.find(id, Asked.of(ctx).caller(proxies));
    Answer answer = Items.answer(found("n", id, outcome));
    return outcome instanceof LegacyPaused paused
        ? answer.with(LegacyHeaders.of(paused.notice()))
        : answer;
  }

  private static Item<Shown> found(String param, LegacyId id, IdOutcome outcome) {
    return switch (outcome) {
      case LegacyPaused paused -> new Item.Refused<>(IdProblems.legacyPaused(paused));
      case IdOutcome.Resolved(ResolveOutcome resolved) -> found(param, id, resolved);
    };
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
    Iterator<IdOutcome> outcomes =
        ids.findAll(
                numbers.stream()
                    .flatMapToLong(OptionalLong::stream)
                    .mapToObj(number -> new LegacyId(type, number))
                    .toList(),
                Asked.of(ctx).caller(proxies))
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
    Days days = days(query);
    return Answer.json(
        200,
        ListView.of(
            hits.of(type, days.first, days.last).stream().map(LegacyHitsView::of).toList()));
  }

  private record Days(LocalDate first, LocalDate last) {}

  private Days days(Query query) {
    LocalDate last = query.day("to").orElseGet(hits::today);
    LocalDate first = query.day("from").orElseGet(() -> last.minusDays(DAYS_DEFAULT - 1));
    if (first.isAfter(last) || first.plusDays(DAYS_MAX).compareTo(last) <= 0) {
      throw Refusal.ofParameter("from", "From the first to the last: 1 to 366 days.");
    }
    return new Days(first, last);
  }

  /** The callers of one kind, and the look-ups of all of them. */
  private record LegacyCallersView(
      String object, String kind, long count, List<LegacyCallerView> callers) {
    static LegacyCallersView of(LegacyCallers.Callers found) {
      return new LegacyCallersView(
          "legacy_callers",
          found.kind().wireName(),
          found.count(),
          found.top().stream().map(caller -> LegacyCallerView.of(caller, found.count())).toList());
    }
  }

  /** A share of 1 is all look-ups. */
  private record LegacyCallerView(String caller, long count, double share, long error) {
    static LegacyCallerView of(LegacyCallers.Caller caller, long all) {
      double share = Math.min(1, (double) caller.count() / Math.max(1, all));
      return new LegacyCallerView(
          caller.text(), caller.count(), Math.round(share * 10_000) / 10_000.0, caller.error());
    }
  }

  private Answer callers(Context ctx) {
    Query query = Query.of(ctx, "from", "to", "kind", "limit");
    Type type = parameters.type(ctx, "name");
    Days days = days(query);
    Set<CallerKind> kinds =
        query
            .text("kind")
            .map(text -> Set.of(kind(text)))
            .orElseGet(() -> EnumSet.allOf(CallerKind.class));
    int limit = query.integer("limit", 1, CALLERS_MAX, CALLERS_MAX);
    return Answer.json(
        200,
        ListView.of(
            callers.of(type, days.first, days.last, kinds, limit).stream()
                .map(LegacyCallersView::of)
                .toList()));
  }

  private static CallerKind kind(String text) {
    return WireNamed.find(CallerKind.class, text)
        .orElseThrow(
            () ->
                Refusal.ofParameter(
                    "kind",
                    "A kind is api_key, user_agent, referring_host or address_range. Leave it out"
                        + " for all of them."));
  }
}
