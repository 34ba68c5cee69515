package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.JsonObject;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.routes.Items.Item;
import dev.coatcheck.api.routes.Items.ItemView;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyBounds;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.mapping.Listing;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.Mappings;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Reads public IDs by ID or by key, one or many at a time, and lists them: {@code /v1/ids}. */
public final class IdRoutes implements Routes {
  public static final String ONE = "/v1/ids/{id}";
  public static final Scope ONE_NEEDS = Scope.IDS_READ;

  private static final int ITEMS_MAX = 1_000;
  private static final int LIMIT_MAX = 100;
  private static final int LIMIT_DEFAULT = 20;
  private static final Instant TIME_MAX = Instant.parse("9999-12-31T00:00:00Z");

  private final Mappings mappings;
  private final Parameters parameters;

  public IdRoutes(Mappings mappings, Parameters parameters) {
    this.mappings = mappings;
    this.parameters = parameters;
  }

  @Override
  public void register(Endpoints endpoints) {
    int bytesMax = RequestBody.BATCH_BYTES_MAX;
    Scope needed = Scope.IDS_READ;
    endpoints.secured(HandlerType.GET, "/v1/ids", needed, this::list);
    endpoints.secured(HandlerType.GET, ONE, ONE_NEEDS, this::resolve);
    endpoints.secured(HandlerType.GET, "/v1/types/{type}/keys/{key}", needed, this::lookup);
    endpoints.json(HandlerType.POST, "/v1/ids/resolve", needed, bytesMax, this::resolveAll);
    endpoints.json(HandlerType.POST, "/v1/ids/lookup", needed, bytesMax, this::lookupAll);
  }

  private Answer resolve(Context ctx) {
    Query.none(ctx);
    return resolved(mappings.resolver().resolve(ctx.pathParam("id")));
  }

  /** What {@link #ONE} answers, where memory alone decides; never waits. */
  public Optional<Answer> resolvedIfCached(String id) {
    return mappings.resolver().resolveIfCached(id).map(IdRoutes::resolved);
  }

  private static Answer resolved(ResolveOutcome outcome) {
    return switch (outcome) {
      case ResolveOutcome.Found(Mapping mapping) -> Answer.json(200, PublicIdView.of(mapping));
      case ResolveOutcome.Merged merged -> Answer.json(200, PublicIdView.of(merged));
      case ResolveOutcome.Revoked revoked -> Answer.of(IdProblems.revoked("id", revoked));
      case ResolveOutcome.Unknown _ -> Answer.of(IdProblems.unknown("id"));
      case ResolveOutcome.Malformed malformed -> Answer.of(IdProblems.malformed("id", malformed));
    };
  }

  private Answer resolveAll(Context ctx) {
    Query.none(ctx);
    List<String> ids = RequestBody.read(ctx).object().allow("ids").strings("ids", ITEMS_MAX);
    List<ResolveOutcome> outcomes = mappings.resolver().resolveAll(ids);
    return Answer.json(
        200,
        ListView.of(
            IntStream.range(0, ids.size())
                .mapToObj(index -> resolved(index, outcomes.get(index)))
                .toList()));
  }

  private static ItemView resolved(int index, ResolveOutcome outcome) {
    String param = "ids[" + index + "]";
    return switch (outcome) {
      case ResolveOutcome.Found(Mapping mapping) ->
          ItemView.found(index, 200, PublicIdView.of(mapping));
      case ResolveOutcome.Merged merged -> ItemView.ended(index, merged);
      case ResolveOutcome.Revoked revoked ->
          ItemView.refused(index, IdProblems.revoked(param, revoked));
      case ResolveOutcome.Unknown _ -> ItemView.refused(index, IdProblems.unknown(param));
      case ResolveOutcome.Malformed malformed ->
          ItemView.refused(index, IdProblems.malformed(param, malformed));
    };
  }

  private Answer lookup(Context ctx) {
    Query.none(ctx);
    Type type = parameters.type(ctx, "type");
    Key key = Parameters.key(type, "key", ctx.pathParam("key"));
    return mappings
        .lookup()
        .find(type, key)
        .map(mapping -> Answer.json(200, PublicIdView.of(mapping)))
        .orElseGet(() -> Answer.of(IdProblems.keyUnknown("key")));
  }

  private Answer lookupAll(Context ctx) {
    Query.none(ctx);
    JsonObject body = RequestBody.read(ctx).object().allow("type", "keys");
    Type type = parameters.type("type", body.string("type"));
    List<Item<Key>> items = new ArrayList<>();
    for (String text : body.strings("keys", ITEMS_MAX)) {
      String param = keyAt(items.size());
      items.add(Items.parse(() -> Parameters.key(type, param, text)));
    }
    Iterator<Optional<Mapping>> found =
        mappings.lookup().findAll(type, Items.sound(items)).iterator();
    return Items.answer(
        items,
        index ->
            found
                .next()
                .map(mapping -> ItemView.found(index, 200, PublicIdView.of(mapping)))
                .orElseGet(() -> ItemView.refused(index, IdProblems.keyUnknown(keyAt(index)))));
  }

  private static String keyAt(int index) {
    return "keys[" + index + "]";
  }

  private Answer list(Context ctx) {
    Query query =
        Query.of(ctx, "type", "limit", "starting_after", "created_after", "created_before");
    Type type =
        parameters.type(
            "type", query.needed("type", "Send the name of the type whose public IDs to list."));
    Optional<Key> cursor = query.text("starting_after").map(text -> cursor(type, text));
    int limit = query.integer("limit", 1, LIMIT_MAX, LIMIT_DEFAULT);
    Optional<Instant> after = query.time("created_after");
    Optional<Instant> before = query.time("created_before");
    boolean timed = after.isPresent() || before.isPresent();
    Optional<KeyBounds> within =
        timed
            ? type.keysWithin(
                after.map(time -> time.plusMillis(1)).orElse(Instant.EPOCH),
                before.map(time -> time.minusMillis(1)).orElse(TIME_MAX))
            : Optional.empty();
    Listing.Page page =
        timed && within.isEmpty()
            ? Listing.Page.EMPTY
            : mappings.listing().page(type, within, cursor, limit);
    return Answer.json(
        200,
        ListView.page(page.mappings().stream().map(PublicIdView::of).toList(), page.hasMore()));
  }

  private Key cursor(Type type, String text) {
    return switch (mappings.resolver().resolve(text)) {
      case ResolveOutcome.Found(Mapping mapping) when mapping.type().number() == type.number() ->
          mapping.key();
      // Ended IDs are listed as well, so they can be the last of a page.
      case ResolveOutcome.Ended ended when ended.mapping().type().number() == type.number() ->
          ended.mapping().key();
      case ResolveOutcome.Malformed malformed ->
          throw new Refusal(IdProblems.malformed("starting_after", malformed));
      case ResolveOutcome.Found _, ResolveOutcome.Ended _, ResolveOutcome.Unknown _ ->
          throw Refusal.ofParameter(
              "starting_after",
              "Send the last public ID of the previous page; it must have the same type.");
    };
  }
}
