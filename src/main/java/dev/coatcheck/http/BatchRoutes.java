package dev.coatcheck.http;

import dev.coatcheck.access.Scope;
import dev.coatcheck.exchange.Answer;
import dev.coatcheck.exchange.JsonObject;
import dev.coatcheck.exchange.Problem;
import dev.coatcheck.exchange.Problems;
import dev.coatcheck.exchange.Query;
import dev.coatcheck.exchange.RequestBody;
import dev.coatcheck.key.Key;
import dev.coatcheck.mapping.Mapping;
import dev.coatcheck.mapping.Mappings;
import dev.coatcheck.mapping.MintOutcome;
import dev.coatcheck.mapping.MintRequest;
import dev.coatcheck.mapping.Minter;
import dev.coatcheck.mapping.ResolveOutcome;
import dev.coatcheck.registry.Registry;
import dev.coatcheck.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Many public IDs in one call. Each item is answered in its place; a bad one harms no other. */
final class BatchRoutes {
  private static final int ITEMS_MAX = Minter.REQUESTS_MAX;

  private final Mappings mappings;
  private final Registry registry;
  private final Problems problems;

  BatchRoutes(Mappings mappings, Registry registry, Problems problems) {
    this.mappings = mappings;
    this.registry = registry;
    this.problems = problems;
  }

  void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.POST, "/v1/ids/batch", Scope.IDS_WRITE, this::mint);
    endpoints.secured(HandlerType.POST, "/v1/ids/resolve", Scope.IDS_READ, this::resolve);
    endpoints.secured(HandlerType.POST, "/v1/ids/lookup", Scope.IDS_READ, this::lookup);
  }

  private void mint(Context ctx) {
    Query.allow(ctx);
    JsonObject body = RequestBody.read(ctx, RequestBody.BATCH_BYTES_MAX);
    boolean atomic = body.bool("atomic", false);
    List<Items.Item<MintRequest>> items = body.has("items") ? listed(body) : counted(body);
    if (atomic && items.stream().anyMatch(Items.Item.Refused.class::isInstance)) {
      problems.write(ctx, Problem.batchRefused(Items.errors(items)));
      return;
    }
    List<MintRequest> sound = Items.sound(items);
    MintOutcome outcome =
        sound.isEmpty() ? new MintOutcome.Minted(List.of()) : mappings.minter().mint(sound);
    switch (outcome) {
      case MintOutcome.Minted(List<MintOutcome.Ticket> tickets) -> {
        var next = tickets.iterator();
        Items.answer(
            ctx,
            items,
            index -> {
              MintOutcome.Ticket ticket = next.next();
              return Views.ItemView.found(index, ticket.created() ? 201 : 200, ticket.mapping());
            });
      }
      case MintOutcome.KeysUnavailable refused ->
          problems.write(ctx, IdRoutes.keysUnavailable(refused.retryAfterMillis()));
    }
  }

  private List<Items.Item<MintRequest>> listed(JsonObject body) {
    List<Items.Item<MintRequest>> items = new ArrayList<>();
    for (JsonObject item : body.allow("items", "atomic").objects("items", ITEMS_MAX)) {
      items.add(Items.parse(() -> request(item)));
    }
    return items;
  }

  private List<Items.Item<MintRequest>> counted(JsonObject body) {
    body.allow("type", "count", "items", "atomic");
    Type type = TypeRoutes.typeNamed(registry, "type", body.string("type"));
    MintRequest generated = new MintRequest(type, Optional.empty());
    return Collections.nCopies(
        body.integer("count", 1, ITEMS_MAX), new Items.Item.Sound<>(generated));
  }

  private MintRequest request(JsonObject item) {
    item.allow("type", "key");
    Type type = TypeRoutes.typeNamed(registry, item.at("type"), item.string("type"));
    return new MintRequest(
        type, item.optionalString("key").map(text -> IdRoutes.key(type, item.at("key"), text)));
  }

  private void resolve(Context ctx) {
    Query.allow(ctx);
    List<String> ids =
        RequestBody.read(ctx, RequestBody.BATCH_BYTES_MAX).allow("ids").strings("ids", ITEMS_MAX);
    List<ResolveOutcome> outcomes = mappings.resolver().resolveAll(ids);
    Answer.json(
        ctx,
        200,
        Views.ListView.of(
            IntStream.range(0, ids.size())
                .mapToObj(index -> resolved(index, outcomes.get(index)))
                .toList()));
  }

  private static Views.ItemView resolved(int index, ResolveOutcome outcome) {
    String param = "ids[" + index + "]";
    return switch (outcome) {
      case ResolveOutcome.Found(Mapping mapping) -> Views.ItemView.found(index, 200, mapping);
      case ResolveOutcome.Merged merged -> Views.ItemView.ended(index, merged);
      case ResolveOutcome.Revoked revoked ->
          Views.ItemView.refused(index, IdRoutes.revokedId(param, revoked));
      case ResolveOutcome.Unknown _ -> Views.ItemView.refused(index, IdRoutes.unknownId(param));
      case ResolveOutcome.Malformed malformed ->
          Views.ItemView.refused(index, IdRoutes.malformedId(param, malformed));
    };
  }

  private void lookup(Context ctx) {
    Query.allow(ctx);
    JsonObject body = RequestBody.read(ctx, RequestBody.BATCH_BYTES_MAX).allow("type", "keys");
    Type type = TypeRoutes.typeNamed(registry, "type", body.string("type"));
    List<Items.Item<Key>> items = new ArrayList<>();
    for (String text : body.strings("keys", ITEMS_MAX)) {
      String param = "keys[" + items.size() + "]";
      items.add(Items.parse(() -> IdRoutes.key(type, param, text)));
    }
    var found = mappings.lookup().findAll(type, Items.sound(items)).iterator();
    Items.answer(
        ctx,
        items,
        index ->
            found
                .next()
                .map(mapping -> Views.ItemView.found(index, 200, mapping))
                .orElseGet(
                    () ->
                        Views.ItemView.refused(index, IdRoutes.unknownKey("keys[" + index + "]"))));
  }
}
