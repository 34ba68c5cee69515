package dev.coatcheck.http;

import dev.coatcheck.access.Scope;
import dev.coatcheck.exchange.Answer;
import dev.coatcheck.exchange.JsonObject;
import dev.coatcheck.exchange.Problem;
import dev.coatcheck.exchange.Problems;
import dev.coatcheck.exchange.Query;
import dev.coatcheck.exchange.Refusal;
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

  /** An item after parsing: what it asks for, or why it was refused. */
  private sealed interface Item<T> {
    record Sound<T>(T value) implements Item<T> {}

    record Refused<T>(Problem problem) implements Item<T> {}
  }

  private void mint(Context ctx) {
    Query.allow(ctx);
    JsonObject body = RequestBody.read(ctx, RequestBody.BATCH_BYTES_MAX);
    boolean atomic = body.bool("atomic", false);
    List<Item<MintRequest>> items = body.has("items") ? listed(body) : counted(body);
    if (atomic && items.stream().anyMatch(Item.Refused.class::isInstance)) {
      problems.write(ctx, Problem.batchRefused(errors(items)));
      return;
    }
    List<MintRequest> sound = sound(items);
    MintOutcome outcome =
        sound.isEmpty() ? new MintOutcome.Minted(List.of()) : mappings.minter().mint(sound);
    switch (outcome) {
      case MintOutcome.Minted(List<MintOutcome.Ticket> tickets) -> {
        var next = tickets.iterator();
        answer(
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

  private List<Item<MintRequest>> listed(JsonObject body) {
    List<Item<MintRequest>> items = new ArrayList<>();
    for (JsonObject item : body.allow("items", "atomic").objects("items", ITEMS_MAX)) {
      items.add(parse(() -> request(item)));
    }
    return items;
  }

  private List<Item<MintRequest>> counted(JsonObject body) {
    body.allow("type", "count", "items", "atomic");
    Type type = TypeRoutes.typeNamed(registry, "type", body.string("type"));
    MintRequest generated = new MintRequest(type, Optional.empty());
    return Collections.nCopies(body.integer("count", 1, ITEMS_MAX), new Item.Sound<>(generated));
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
      case ResolveOutcome.Unknown _ -> Views.ItemView.refused(index, IdRoutes.unknownId(param));
      case ResolveOutcome.Malformed malformed ->
          Views.ItemView.refused(index, IdRoutes.malformedId(param, malformed));
    };
  }

  private void lookup(Context ctx) {
    Query.allow(ctx);
    JsonObject body = RequestBody.read(ctx, RequestBody.BATCH_BYTES_MAX).allow("type", "keys");
    Type type = TypeRoutes.typeNamed(registry, "type", body.string("type"));
    List<Item<Key>> items = new ArrayList<>();
    for (String text : body.strings("keys", ITEMS_MAX)) {
      String param = "keys[" + items.size() + "]";
      items.add(parse(() -> IdRoutes.key(type, param, text)));
    }
    var found = mappings.lookup().findAll(type, sound(items)).iterator();
    answer(
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

  private static <T> Item<T> parse(java.util.function.Supplier<T> parser) {
    try {
      return new Item.Sound<>(parser.get());
    } catch (Refusal refusal) {
      return new Item.Refused<>(refusal.problem());
    }
  }

  private static <T> List<T> sound(List<Item<T>> items) {
    List<T> sound = new ArrayList<>();
    for (Item<T> item : items) {
      if (item instanceof Item.Sound<T>(T value)) {
        sound.add(value);
      }
    }
    return sound;
  }

  private static <T> List<Problem.ItemError> errors(List<Item<T>> items) {
    List<Problem.ItemError> errors = new ArrayList<>();
    for (int index = 0; index < items.size(); index++) {
      if (items.get(index) instanceof Item.Refused<T>(Problem problem)) {
        errors.add(new Problem.ItemError(index, problem.code().status(), problem.brief()));
      }
    }
    return errors;
  }

  /** Answers every item in its place; {@code sound} is asked for the sound ones in order. */
  private static <T> void answer(
      Context ctx, List<Item<T>> items, java.util.function.IntFunction<Views.ItemView> sound) {
    List<Views.ItemView> views = new ArrayList<>(items.size());
    for (int index = 0; index < items.size(); index++) {
      views.add(
          switch (items.get(index)) {
            case Item.Sound<T> _ -> sound.apply(index);
            case Item.Refused<T>(Problem problem) -> Views.ItemView.refused(index, problem);
          });
    }
    Answer.json(ctx, 200, Views.ListView.of(views));
  }
}
