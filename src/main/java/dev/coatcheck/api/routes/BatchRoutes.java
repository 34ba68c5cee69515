package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.JsonObject;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.RequestBody;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.Mappings;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Many public IDs read in one call. Each item is answered at its index; a bad one harms no other.
 */
public final class BatchRoutes {
  private static final int ITEMS_MAX = 1_000;

  private final Mappings mappings;
  private final Registry registry;

  public BatchRoutes(Mappings mappings, Registry registry) {
    this.mappings = mappings;
    this.registry = registry;
  }

  public void register(Endpoints endpoints) {
    endpoints.json(
        HandlerType.POST,
        "/v1/ids/resolve",
        Scope.IDS_READ,
        RequestBody.BATCH_BYTES_MAX,
        this::resolve);
    endpoints.json(
        HandlerType.POST,
        "/v1/ids/lookup",
        Scope.IDS_READ,
        RequestBody.BATCH_BYTES_MAX,
        this::lookup);
  }

  private void resolve(Context ctx) {
    Query.allow(ctx);
    List<String> ids = RequestBody.read(ctx).allow("ids").strings("ids", ITEMS_MAX);
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
    JsonObject body = RequestBody.read(ctx).allow("type", "keys");
    Type type = TypeRoutes.typeNamed(registry, "type", body.string("type"));
    List<Items.Item<Key>> items = new ArrayList<>();
    for (String text : body.strings("keys", ITEMS_MAX)) {
      String param = "keys[" + items.size() + "]";
      items.add(Items.parse(() -> IdRoutes.key(type, param, text)));
    }
    var found = mappings.lookup().findAll(type, Items.sound(items)).iterator();
    Items.answer(
            items,
            index ->
                found
                    .next()
                    .map(mapping -> Views.ItemView.found(index, 200, mapping))
                    .orElseGet(
                        () ->
                            Views.ItemView.refused(
                                index, IdRoutes.unknownKey("keys[" + index + "]"))))
        .send(ctx);
  }
}
