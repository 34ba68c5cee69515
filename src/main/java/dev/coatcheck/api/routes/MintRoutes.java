package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.JsonObject;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.RequestBody;
import dev.coatcheck.api.server.RequestId;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.idempotency.StoredResponse;
import dev.coatcheck.ids.mint.MintCall;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.mint.Minter;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Mints, one public ID or many: {@code POST /v1/ids} and {@code /v1/ids/batch}. */
public final class MintRoutes {
  private static final int RETRY_BUSY_SECONDS = 1;

  private final Minter minter;
  private final Registry registry;
  private final Problems problems;

  public MintRoutes(Minter minter, Registry registry, Problems problems) {
    this.minter = minter;
    this.registry = registry;
    this.problems = problems;
  }

  public void register(Endpoints endpoints) {
    endpoints.json(HandlerType.POST, "/v1/ids", Scope.IDS_WRITE, RequestBody.BYTES_MAX, this::one);
    endpoints.json(
        HandlerType.POST,
        "/v1/ids/batch",
        Scope.IDS_WRITE,
        RequestBody.BATCH_BYTES_MAX,
        this::batch);
  }

  private void one(Context ctx) {
    Query.allow(ctx);
    RequestBody.Hashed body = RequestBody.readHashed(ctx);
    MintRequest request = request(body.object(), Endpoints.caller(ctx).principal());
    String requestId = RequestId.of(ctx);
    Function<MintOutcome.Worked, Answer> render =
        outcome -> MintAnswers.one(request, outcome, requestId);
    mint(ctx, List.of(request), false, new Rendering("one " + body.sha256(), render));
  }

  private void batch(Context ctx) {
    Query.allow(ctx);
    RequestBody.Hashed body = RequestBody.readHashed(ctx);
    boolean atomic = body.object().bool("atomic", false);
    List<Items.Item<MintRequest>> items =
        body.object().has("items")
            ? listed(body.object(), Endpoints.caller(ctx).principal())
            : counted(body.object());
    List<MintRequest> sound = Items.sound(items);
    if (atomic && sound.size() < items.size()) {
      problems.write(ctx, Problem.batchRefused(Items.errors(items)));
    } else if (sound.isEmpty()) {
      MintAnswers.batch(items, new MintOutcome.Minted(List.of()), RequestId.of(ctx)).send(ctx);
    } else {
      String requestId = RequestId.of(ctx);
      Function<MintOutcome.Worked, Answer> render =
          outcome -> MintAnswers.batch(items, outcome, requestId);
      mint(ctx, sound, atomic, new Rendering("batch " + body.sha256(), render));
    }
  }

  /**
   * How a call is answered.
   *
   * @param request what tells it from other requests with the same Idempotency-Key
   */
  private record Rendering(String request, Function<MintOutcome.Worked, Answer> answer) {}

  private void mint(Context ctx, List<MintRequest> requests, boolean atomic, Rendering rendering) {
    Optional<IdempotentCall<MintOutcome.Worked>> once =
        IdempotencyHeader.once(ctx, rendering.request(), rendering.answer());
    MintOutcome outcome = minter.mint(new MintCall(requests, atomic, once));
    switch (outcome) {
      case MintOutcome.Worked worked -> rendering.answer().apply(worked).send(ctx);
      case MintOutcome.Answered(StoredResponse answer, boolean replayed) ->
          IdempotencyHeader.send(ctx, answer, replayed);
      case MintOutcome.KeyReused _ -> problems.write(ctx, IdempotencyHeader.reused());
      case MintOutcome.Busy _ ->
          problems.write(
              ctx,
              Problem.retryAfter(
                  ProblemCode.BUSY,
                  "Another request for the same key, alias or Idempotency-Key is still under way."
                      + " Nothing was done; send this one again.",
                  RETRY_BUSY_SECONDS));
      case MintOutcome.Overloaded _ ->
          problems.write(
              ctx,
              Problem.retryAfter(
                  ProblemCode.OVERLOADED, "Send the batch again.", Problems.jitteredSeconds()));
      case MintOutcome.KeysUnavailable refused ->
          problems.write(ctx, IdRoutes.keysUnavailable(refused.why()));
    }
  }

  private List<Items.Item<MintRequest>> listed(JsonObject body, String principal) {
    List<Items.Item<MintRequest>> items = new ArrayList<>();
    for (JsonObject item : body.allow("items", "atomic").objects("items", MintCall.REQUESTS_MAX)) {
      items.add(Items.parse(() -> request(item, principal)));
    }
    return items;
  }

  private List<Items.Item<MintRequest>> counted(JsonObject body) {
    body.allow("type", "count", "items", "atomic");
    Type type = TypeRoutes.typeNamed(registry, "type", body.string("type"));
    MintRequest generated = new MintRequest(type, Optional.empty());
    return Collections.nCopies(
        body.integer("count", 1, MintCall.REQUESTS_MAX), new Items.Item.Sound<>(generated));
  }

  private MintRequest request(JsonObject body, String principal) {
    body.allow("type", "key", "legacy_id", ClientIds.CLIENT_ID, ClientIds.NAMESPACE);
    Type type = TypeRoutes.typeNamed(registry, body.at("type"), body.string("type"));
    Optional<Key> key =
        body.optionalString("key").map(text -> IdRoutes.key(type, body.at("key"), text));
    List<Alias> aliases = new ArrayList<>();
    body.optionalString("legacy_id")
        .map(text -> AliasRoutes.alias(type, AliasScheme.LEGACY, body.at("legacy_id"), text))
        .ifPresent(aliases::add);
    ClientIds.read(body, type, principal).ifPresent(aliases::add);
    return new MintRequest(type, key, aliases);
  }
}
