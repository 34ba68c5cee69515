package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.Items.Item;
import dev.coatcheck.api.routes.Items.Shown;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.idempotency.StoredResponse;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.OlderId.LegacyId;
import dev.coatcheck.ids.mint.MintCall;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.mint.Minter;
import dev.coatcheck.ids.redirect.IdResolver;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** Mints one public ID or many: {@code POST /v1/ids} and {@code /v1/ids/batch}. */
public final class MintRoutes implements Routes {
  public static final String ONE = "/v1/ids";
  public static final Scope NEEDS = Scope.IDS_WRITE;

  private final Minter minter;
  private final IdResolver ids;
  private final Parameters parameters;
  private final InstantSource clock;

  public MintRoutes(Minter minter, IdResolver ids, Parameters parameters, InstantSource clock) {
    this.clock = clock;
    this.minter = minter;
    this.ids = ids;
    this.parameters = parameters;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.json(HandlerType.POST, ONE, NEEDS, this::one);
    endpoints.batchInTurn("/v1/ids/batch", NEEDS, this::batch);
  }

  private Answer one(Context ctx, RequestBody body) {
    String named = "one " + body.sha256();
    Caller caller = RequestCaller.of(ctx).caller();
    return switch (Items.parse(() -> request(body.object(), caller))) {
      case Item.Refused<MintRequest>(Problem problem) ->
          refused(ctx, named, Answer.of(problem), isByClock(problem));
      case Item.Sound<MintRequest>(MintRequest request) ->
          mint(ctx, named, List.of(request), false, outcome -> one(request, outcome));
    };
  }

  /** The answer of {@link #ONE} to a body, for a request without a query or an Idempotency-Key. */
  public Answer one(byte[] body, Caller caller) {
    MintRequest request =
        NonBlockingAttempt.once(ONE, () -> request(RequestBody.of(body).object(), caller));
    return mint(MintCall.of(request), outcome -> one(request, outcome));
  }

  private Answer batch(Context ctx, RequestBody body) {
    String named = "batch " + body.sha256();
    boolean atomic = body.object().bool("atomic", false);
    Caller caller = RequestCaller.of(ctx).caller();
    return switch (Items.parse(() -> items(body.object(), caller))) {
      case Item.Refused<List<Item<MintRequest>>>(Problem problem) ->
          refused(ctx, named, Answer.of(problem), false);
      case Item.Sound<List<Item<MintRequest>>>(List<Item<MintRequest>> items) ->
          batch(ctx, named, items, atomic);
    };
  }

  private Answer batch(Context ctx, String named, List<Item<MintRequest>> items, boolean atomic) {
    List<MintRequest> sound = Items.sound(items);
    if (atomic && sound.size() < items.size()) {
      Problem problem = Problem.batchRefused(Items.errors(items));
      return refused(ctx, named, Answer.of(problem), isByClock(items));
    }
    if (sound.isEmpty()) {
      Answer refusal = batch(items, new MintOutcome.Minted(List.of()));
      return refused(ctx, named, refusal, isByClock(items));
    }
    return mint(ctx, named, sound, atomic, outcome -> batch(items, outcome));
  }

  private static boolean isByClock(List<Item<MintRequest>> items) {
    return items.stream()
        .anyMatch(
            item ->
                item instanceof Item.Refused<MintRequest>(Problem problem) && isByClock(problem));
  }

  /** By the clock of this instance a key may be too far ahead, and by that of another one not. */
  private static boolean isByClock(Problem problem) {
    return problem.code() == ProblemCode.KEY_TOO_FAR_AHEAD;
  }

  /** What was done once may be refused now, for example because its type was changed since. */
  private Answer refused(Context ctx, String named, Answer refusal, boolean isByClock) {
    Optional<IdempotentCall<MintOutcome.Worked>> once =
        IdempotencyHeader.once(ctx, named, _ -> refusal);
    return once.isEmpty()
        ? refusal
        : mint(
            new MintCall(List.of(), false, isByClock ? once.map(IdempotentCall::unstored) : once),
            _ -> refusal);
  }

  private Answer mint(
      Context ctx,
      String named,
      List<MintRequest> requests,
      boolean atomic,
      Function<MintOutcome.Worked, Answer> answer) {
    return mint(new MintCall(requests, atomic, IdempotencyHeader.once(ctx, named, answer)), answer);
  }

  private Answer mint(MintCall call, Function<MintOutcome.Worked, Answer> answer) {
    fillRows(call);
    return switch (minter.mint(call)) {
      case MintOutcome.Worked worked -> answer.apply(worked);
      case MintOutcome.Answered(StoredResponse stored, boolean replayed) ->
          IdempotencyHeader.stored(stored, replayed);
      case MintOutcome.KeyReused(boolean forOtherTypes) -> IdempotencyHeader.reused(forOtherTypes);
      case MintOutcome.Busy _ ->
          Answer.of(
              Problem.busy(
                  "Another request for the same key, alias or Idempotency-Key is still under way."
                      + " Nothing was done; send the same request again."));
      case MintOutcome.Overloaded _ ->
          Answer.of(Problem.unavailable(ProblemCode.OVERLOADED, "Send the batch again."));
      case MintOutcome.KeysUnavailable(KeyOutcome.NoKeys why) ->
          Answer.of(IdProblems.keysUnavailable(why));
    };
  }

  /** A legacy ID of a row whose table migrates stands for the key of the row, not for a new one. */
  private void fillRows(MintCall call) {
    List<LegacyId> legacyIds =
        call.requests().stream()
            .filter(request -> request.key().isEmpty())
            .flatMap(
                request -> request.aliases().stream().flatMap(alias -> legacyId(request, alias)))
            .toList();
    if (!legacyIds.isEmpty()) {
      // Once: a mint that has begun must not be sent away to wait for rows.
      boolean _ =
          NonBlockingAttempt.once(
              IdResolver.class,
              () -> {
                ids.fillRows(legacyIds);
                return true;
              });
    }
  }

  private static Stream<LegacyId> legacyId(MintRequest request, Alias alias) {
    return alias.scheme() == AliasScheme.LEGACY
        ? Stream.of(new LegacyId(request.type(), Long.parseLong(alias.value())))
        : Stream.empty();
  }

  private List<Item<MintRequest>> items(JsonObject body, Caller caller) {
    return isCounted(body) ? counted(body, caller) : listed(body, caller);
  }

  /** Generated clients send an empty list for one that was left out. */
  private static boolean isCounted(JsonObject body) {
    return !body.has("items") || (body.has("count") && body.hasNone("items"));
  }

  private List<Item<MintRequest>> listed(JsonObject body, Caller caller) {
    return body.allow("items", "atomic").objects("items", MintCall.REQUESTS_MAX).stream()
        .map(item -> Items.parse(() -> request(item, caller)))
        .toList();
  }

  private List<Item<MintRequest>> counted(JsonObject body, Caller caller) {
    body.allow("type", "count", "items", "atomic");
    Type type = parameters.type(caller.rights().allowedTypes(), "type", body.string("type"));
    if (type.needsKeys()) {
      throw new Refusal(Parameters.keyRequired("type"));
    }
    MintRequest generated = new MintRequest(type, Optional.empty());
    return Collections.nCopies(
        body.integer("count", 1, MintCall.REQUESTS_MAX), new Item.Sound<>(generated));
  }

  private MintRequest request(JsonObject body, Caller caller) {
    body.allow("type", "key", "legacy_id", ClientIds.CLIENT_ID, ClientIds.NAMESPACE);
    Type type =
        parameters.type(caller.rights().allowedTypes(), body.at("type"), body.string("type"));
    Optional<Key> key =
        body.optionalString("key").map(text -> Parameters.key(type, body.at("key"), text));
    key.flatMap(own -> tooFarAhead(type, own, body.at("key")))
        .ifPresent(
            problem -> {
              throw new Refusal(problem);
            });
    if (key.isEmpty() && type.needsKeys()) {
      throw new Refusal(Parameters.keyRequired(body.at("key")));
    }
    List<Alias> aliases = new ArrayList<>();
    body.optionalString("legacy_id")
        .map(text -> Parameters.alias(type, AliasScheme.LEGACY, body.at("legacy_id"), text))
        .ifPresent(aliases::add);
    ClientIds.read(body, type, caller.principal()).ifPresent(aliases::add);
    return new MintRequest(type, key, aliases);
  }

  private Optional<Problem> tooFarAhead(Type type, Key key, String param) {
    return type.sealingOf(key)
        .filter(sealing -> sealing.isTooFarAhead(((Key.Bigint) key).value(), clock.instant()))
        .map(
            _ ->
                Problem.at(
                    ProblemCode.KEY_TOO_FAR_AHEAD,
                    param,
                    "A key of a sealed type is dated at most 24 hours ahead. Check the layout of"
                        + " the key and the clock of its generator."));
  }

  private static Answer one(MintRequest request, MintOutcome.Worked outcome) {
    MintOutcome.Item item =
        switch (outcome) {
          case MintOutcome.Minted(List<MintOutcome.Item> items) -> items.getFirst();
          case MintOutcome.NothingDone(List<MintOutcome.RefusedItem> refused) ->
              refused.getFirst().item();
        };
    return Items.answer(result(request, item, ""));
  }

  private static Answer batch(List<Item<MintRequest>> items, MintOutcome.Worked outcome) {
    return switch (outcome) {
      case MintOutcome.Minted(List<MintOutcome.Item> minted) ->
          Items.answer(
              Items.results(
                  items, minted, (index, request, item) -> result(request, item, path(index))));
      case MintOutcome.NothingDone(List<MintOutcome.RefusedItem> refused) ->
          Answer.of(Problem.batchRefused(refused.stream().map(MintRoutes::error).toList()));
    };
  }

  private static Item<Shown> result(MintRequest request, MintOutcome.Item item, String path) {
    return switch (item) {
      case MintOutcome.Ticket(Mapping mapping, boolean created) ->
          Items.shown(created ? 201 : 200, PublicIdView.of(mapping).named(request.aliases()));
      case MintOutcome.Refused refused -> new Item.Refused<>(problem(refused, path));
    };
  }

  private static Problem.ItemError error(MintOutcome.RefusedItem refused) {
    return new Problem.ItemError(refused.index(), problem(refused.item(), path(refused.index())));
  }

  private static String path(int index) {
    return "items[" + index + "].";
  }

  private static Problem problem(MintOutcome.Refused item, String path) {
    return switch (item) {
      case MintOutcome.AliasTaken(AliasScheme scheme) ->
          Problem.at(
              ProblemCode.ALIAS_CONFLICT,
              path + scheme.wireName() + "_id",
              "A public ID with another key already has this alias. Nothing was done.");
      case MintOutcome.Erased _ ->
          Problem.of(
              ProblemCode.PUBLIC_ID_ERASED,
              "The public ID of this alias was erased, for good. No other public ID gets the"
                  + " alias.");
      case MintOutcome.TypeRetired _ ->
          Problem.at(
              ProblemCode.TYPE_RETIRED,
              path + "type",
              "The type is retired: it gets no new public IDs, and those that it has keep working."
                  + " Nothing was done.");
      case MintOutcome.Ended _ ->
          Problem.of(
              ProblemCode.ID_ENDED,
              "The public ID of this key or alias was revoked or merged, for good. The key never"
                  + " gets another public ID.");
    };
  }
}
