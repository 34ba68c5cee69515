package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.Items.Item;
import dev.coatcheck.api.routes.Items.Shown;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.ending.EndOutcome;
import dev.coatcheck.ids.ending.EndOutcome.MergeRefused.Why;
import dev.coatcheck.ids.ending.EndOutcome.Side;
import dev.coatcheck.ids.ending.Endings;
import dev.coatcheck.ids.ending.Endings.Request;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.idempotency.StoredResponse;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/** Ends public IDs, alone or in batches: revokes them, or merges them into other public IDs. */
public final class EndingRoutes implements Routes {
  public static final int REASON_LENGTH_MAX = 500;

  private final Endings endings;

  public EndingRoutes(Endings endings) {
    this.endings = endings;
  }

  @Override
  public void register(Endpoints endpoints) {
    Scope needed = Scope.IDS_END;
    endpoints.optionalJson(HandlerType.POST, "/v1/ids/{id}/revoke", needed, this::revoke);
    endpoints.json(HandlerType.POST, "/v1/ids/{id}/merge", needed, this::merge);
    endpoints.batch(
        "/v1/ids/revoke",
        needed,
        (ctx, body) ->
            endAll(ctx, body, item -> revocation(item.allow("id", "reason"), item.string("id"))));
    endpoints.batch(
        "/v1/ids/merge",
        needed,
        (ctx, body) ->
            endAll(ctx, body, item -> merger(item.allow("id", "into"), item.string("id"))));
  }

  private Answer revoke(Context ctx, RequestBody body) {
    return end(ctx, body, revocation(body.object().allow("reason"), ctx.pathParam("id")));
  }

  private Answer merge(Context ctx, RequestBody body) {
    return end(ctx, body, merger(body.object().allow("into"), ctx.pathParam("id")));
  }

  private static Request revocation(JsonObject body, String id) {
    Optional<String> reason = body.optionalString("reason");
    if (reason.filter(text -> text.isBlank() || text.length() > REASON_LENGTH_MAX).isPresent()) {
      throw body.invalid(
          "reason", "Send a reason of 1 to " + REASON_LENGTH_MAX + " characters, or leave it out.");
    }
    return new Request.Revoke(id, reason);
  }

  private static Request merger(JsonObject body, String id) {
    return new Request.Merge(id, body.string("into"));
  }

  private Answer end(Context ctx, RequestBody body, Request request) {
    return end(
        ctx,
        body,
        List.of(request),
        Endings.Mode.EACH,
        outcomes -> Items.answer(ended(outcomes.getFirst(), "")));
  }

  private Answer endAll(Context ctx, RequestBody body, Function<JsonObject, Request> parse) {
    boolean atomic = body.object().allow("items", "atomic").bool("atomic", false);
    List<Item<Request>> items =
        body.object().objects("items", Endings.REQUESTS_MAX).stream()
            .map(item -> Items.parse(() -> parse.apply(item)))
            .toList();
    List<Request> sound = Items.sound(items);
    Function<List<EndOutcome>, Answer> answer = outcomes -> answer(items, outcomes, atomic);
    Endings.Mode ifAtomic =
        sound.size() == items.size() ? Endings.Mode.ALL_OR_NONE : Endings.Mode.NONE;
    return end(ctx, body, sound, atomic ? ifAtomic : Endings.Mode.EACH, answer);
  }

  private static Answer answer(
      List<Item<Request>> items, List<EndOutcome> outcomes, boolean atomic) {
    List<Item<Shown>> results =
        Items.results(
            items, outcomes, (index, _, outcome) -> ended(outcome, "items[" + index + "]."));
    return atomic && results.stream().anyMatch(Item.Refused.class::isInstance)
        ? Answer.of(Problem.batchRefused(Items.errors(results)))
        : Items.answer(results);
  }

  private Answer end(
      Context ctx,
      RequestBody body,
      List<Request> requests,
      Endings.Mode mode,
      Function<List<EndOutcome>, Answer> answer) {
    Optional<IdempotentCall<List<EndOutcome>>> once =
        IdempotencyHeader.once(ctx, "POST " + ctx.path() + " " + body.sha256(), answer);
    return switch (endings.end(
        requests, mode, RequestCaller.actor(ctx), RequestCaller.types(ctx), once)) {
      case Endings.Result.Settled(List<EndOutcome> outcomes) -> answer.apply(outcomes);
      case Endings.Result.Answered(StoredResponse stored, boolean replayed) ->
          IdempotencyHeader.stored(stored, replayed);
      case Endings.Result.KeyReused(boolean forOtherTypes) ->
          IdempotencyHeader.reused(forOtherTypes);
      case Endings.Result.Busy _ ->
          Answer.of(
              Problem.busy(
                  "Another transaction uses this public ID or Idempotency-Key. Nothing was done;"
                      + " send the same request again."));
      case Endings.Result.Overloaded _ ->
          Answer.of(
              Problem.unavailable(
                  ProblemCode.OVERLOADED,
                  "Too many revocations and merges are waiting. Nothing was done; send the same"
                      + " request again."));
    };
  }

  /**
   * What a caller is told about an outcome.
   *
   * @param path of the item in the body
   */
  public static Item<Shown> ended(EndOutcome outcome, String path) {
    return switch (outcome) {
      case EndOutcome.Done(ResolveOutcome.Ended ended) -> Items.shown(200, PublicIdView.of(ended));
      case EndOutcome.Unissued(Side side, ResolveOutcome.Unissued why) ->
          new Item.Refused<>(IdProblems.unissued(param(path, side), why));
      case EndOutcome.Erased(Side side) -> new Item.Refused<>(Problem.erased(param(path, side)));
      case EndOutcome.EndedOtherwise(Side side) ->
          new Item.Refused<>(
              IdProblems.ended(
                  param(path, side),
                  "This public ID is already revoked or merged, for good. GET /v1/ids/{id} shows"
                      + " which."));
      case EndOutcome.MergeRefused(Why why) ->
          new Item.Refused<>(
              Problem.at(ProblemCode.MERGE_REFUSED, param(path, Side.INTO), sentence(why)));
    };
  }

  private static String sentence(Why why) {
    return switch (why) {
      case ITSELF -> "A public ID can't be merged into itself. Name another survivor.";
      case CYCLE ->
          "The target was already merged into this public ID; merging back would make a cycle.";
      case OTHER_TYPE -> "Both public IDs must have the same type.";
    };
  }

  private static String param(String path, Side side) {
    return path + side.name().toLowerCase(Locale.ROOT);
  }
}
