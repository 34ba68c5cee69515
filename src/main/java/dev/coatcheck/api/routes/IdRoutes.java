package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.Items.Item;
import dev.coatcheck.api.routes.Items.Shown;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyBounds;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.mapping.Lookup;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.OlderId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.redirect.IdOutcome;
import dev.coatcheck.ids.redirect.IdResolver;
import dev.coatcheck.ids.redirect.LegacyPaused;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Resolves, looks up and lists public IDs, one or many at a time: {@code /v1/ids}. */
public final class IdRoutes implements Routes {
  public static final String ONE = "/v1/ids/{id}";
  public static final Scope ONE_NEEDS = Scope.IDS_READ;

  private static final int ITEMS_MAX = 1_000;
  private static final Instant TIME_MAX = Instant.parse("9999-12-31T00:00:00Z");
  private static final String EXPAND = "expand";
  private static final String AFTER = "starting_after";
  private static final String BEFORE = "ending_before";

  private final Resolver resolver;
  private final IdResolver ids;
  private final Lookup lookup;
  private final Aliases aliases;
  private final Parameters parameters;
  private final Proxies proxies;

  public IdRoutes(
      Resolver resolver,
      IdResolver ids,
      Lookup lookup,
      Aliases aliases,
      Parameters parameters,
      Proxies proxies) {
    this.resolver = resolver;
    this.ids = ids;
    this.lookup = lookup;
    this.aliases = aliases;
    this.parameters = parameters;
    this.proxies = proxies;
  }

  @Override
  public void register(Endpoints endpoints) {
    Scope needed = Scope.IDS_READ;
    endpoints.secured(HandlerType.GET, "/v1/ids", needed, this::list);
    endpoints.secured(HandlerType.GET, ONE, ONE_NEEDS, this::resolve);
    endpoints.secured(HandlerType.GET, "/v1/types/{type}/keys/{key}", needed, this::lookup);
    endpoints.batchInTurn("/v1/ids/resolve", needed, this::resolveAll);
    endpoints.batchInTurn("/v1/ids/lookup", needed, this::lookupAll);
  }

  private Answer resolve(Context ctx) {
    boolean expand = Query.of(ctx, EXPAND).is(EXPAND, "aliases");
    return resolve(ctx.pathParam("id"), RequestCaller.types(ctx), Asked.of(ctx), expand);
  }

  /** The answer of {@link #ONE} to a request without a query. */
  public Answer resolve(String id, AllowedTypes allowed, Asked asked) {
    return resolve(id, allowed, asked, false);
  }

  private Answer resolve(String id, AllowedTypes allowed, Asked asked, boolean expand) {
    IdOutcome outcome = ids.resolve(id, allowed, asked.caller(proxies));
    Answer answer = Items.answer(resolved(id, outcome, "id", expand));
    return outcome instanceof LegacyPaused paused
        ? answer.with(LegacyHeaders.of(paused.notice()))
        : answer;
  }

  private Answer resolveAll(Context ctx, RequestBody body) {
    List<String> texts = body.object().allow("ids").strings("ids", ITEMS_MAX);
    List<IdOutcome> outcomes =
        ids.resolveAll(texts, RequestCaller.types(ctx), Asked.of(ctx).caller(proxies));
    return Items.answer(
        IntStream.range(0, outcomes.size())
            .mapToObj(
                index ->
                    resolved(texts.get(index), outcomes.get(index), "ids[" + index + "]", false))
            .toList());
  }

  private Item<Shown> resolved(String text, IdOutcome outcome, String param, boolean expand) {
    return switch (outcome) {
      case LegacyPaused paused -> new Item.Refused<>(IdProblems.legacyPaused(paused));
      case IdOutcome.Resolved(ResolveOutcome.Found(Mapping mapping)) ->
          shown(text, mapping, PublicIdView.of(mapping), expand);
      case IdOutcome.Resolved(ResolveOutcome.Merged merged) ->
          shown(text, merged.mapping(), PublicIdView.of(merged), expand);
      case IdOutcome.Resolved(ResolveOutcome.Revoked revoked) ->
          new Item.Refused<>(IdProblems.revoked(param, revoked));
      case IdOutcome.Resolved(ResolveOutcome.Erased _) -> new Item.Refused<>(Problem.erased(param));
      case IdOutcome.Resolved(ResolveOutcome.Unissued unissued) ->
          new Item.Refused<>(IdProblems.unissued(param, unissued));
    };
  }

  private Item<Shown> shown(String text, Mapping mapping, PublicIdView view, boolean expand) {
    PublicIdView named = named(view, text);
    return Items.shown(
        200, expand ? named.expanded(aliases.of(mapping.type(), mapping.token())) : named);
  }

  /** An older public ID may carry the legacy ID; a public ID of ours carries nothing. */
  private PublicIdView named(PublicIdView view, String text) {
    return text.equals(view.id())
        ? view
        : view.named(
            ids.legacyId(text, AllowedTypes.ALL).map(OlderId.LegacyId::alias).stream().toList());
  }

  private Answer lookup(Context ctx) {
    Query.none(ctx);
    Type type = parameters.type(ctx, "type");
    Key key = Parameters.key(type, "key", ctx.pathParam("key"));
    return Items.answer(found(lookup.find(type, key), "key"));
  }

  private Answer lookupAll(Context ctx, RequestBody request) {
    JsonObject body = request.object().allow("type", "keys");
    Type type = parameters.type(RequestCaller.types(ctx), "type", body.string("type"));
    List<Item<Key>> items = new ArrayList<>();
    for (String text : body.strings("keys", ITEMS_MAX)) {
      String param = keyAt(items.size());
      items.add(Items.parse(() -> Parameters.key(type, param, text)));
    }
    List<Optional<Mapping>> found = lookup.findAll(type, Items.sound(items));
    return Items.answer(
        Items.results(items, found, (index, _, mapping) -> found(mapping, keyAt(index))));
  }

  private static Item<Shown> found(Optional<Mapping> found, String param) {
    return found
        .map(mapping -> Items.shown(200, PublicIdView.of(mapping)))
        .orElseGet(() -> new Item.Refused<>(IdProblems.keyUnknown(param)));
  }

  private static String keyAt(int index) {
    return "keys[" + index + "]";
  }

  private Answer list(Context ctx) {
    Query query =
        Query.of(ctx, "type", "limit", AFTER, BEFORE, "status", "created_after", "created_before");
    Type type =
        parameters.type(
            RequestCaller.types(ctx),
            "type",
            query.needed("type", "Send the name of the type whose public IDs to list."));
    Parameters.requireRows(type);
    Optional<Lookup.Cursor> cursor = cursor(ctx, type, query);
    Optional<Mapping.Status> status = query.text("status").map(IdRoutes::status);
    int limit = query.limit();
    Optional<Instant> after = query.time("created_after");
    Optional<Instant> before = query.time("created_before");
    boolean timed = after.isPresent() || before.isPresent();
    Optional<KeyBounds> within =
        timed
            ? Parameters.keyTimes(type, after.isPresent() ? "created_after" : "created_before")
                .bounds(
                    after.map(time -> time.plusMillis(1)).orElse(Instant.EPOCH),
                    before.map(time -> time.minusNanos(1)).orElse(TIME_MAX))
            : Optional.empty();
    Lookup.Page page =
        timed && within.isEmpty()
            ? Lookup.Page.EMPTY
            : lookup.page(type, new Lookup.Filter(within, status), cursor, limit);
    return Answer.json(
        200,
        ListView.page(page.mappings().stream().map(PublicIdView::of).toList(), page.hasMore()));
  }

  private static Mapping.Status status(String text) {
    return WireNamed.find(Mapping.Status.class, text)
        .filter(status -> status != Mapping.Status.ERASED) // a list shows keys
        .orElseThrow(() -> Refusal.ofParameter("status", "A status is active, revoked or merged."));
  }

  private Optional<Lookup.Cursor> cursor(Context ctx, Type type, Query query) {
    Optional<Key> end = query.text(BEFORE).map(text -> key(ctx, type, BEFORE, text));
    Optional<Key> start = query.text(AFTER).map(text -> key(ctx, type, AFTER, text));
    if (end.isPresent() && start.isPresent()) {
      throw Refusal.ofParameter(BEFORE, "Send starting_after or ending_before, not both.");
    }
    return end.map(key -> new Lookup.Cursor(key, true))
        .or(() -> start.map(key -> new Lookup.Cursor(key, false)));
  }

  private Key key(Context ctx, Type type, String param, String text) {
    return switch (resolver.resolve(text, RequestCaller.types(ctx))) {
      case ResolveOutcome.Found(Mapping mapping) when mapping.type().number() == type.number() ->
          mapping.key();
      // A list includes ended IDs, so an ended ID can be the last one of a page.
      case ResolveOutcome.Ended ended when ended.mapping().type().number() == type.number() ->
          ended.mapping().key();
      case ResolveOutcome.Found _,
          ResolveOutcome.Ended _,
          ResolveOutcome.Erased _,
          ResolveOutcome.Unknown _ ->
          throw Refusal.ofParameter(
              param,
              "Send the last public ID of a page for starting_after, the first for ending_before;"
                  + " it must have the same type. If it was erased since, send the one next to"
                  + " it.");
      case ResolveOutcome.Unissued unissued ->
          throw new Refusal(IdProblems.unissued(param, unissued));
    };
  }
}
