package dev.coatcheck.api.routes;

import dev.coatcheck.api.routes.Items.Item;
import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.JsonObject;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.RequestBody;
import dev.coatcheck.api.server.RequestId;
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
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/** The end of public IDs: revoked, or merged into another one; alone or in batches. */
public final class EndingRoutes {
  private static final int REASON_LENGTH_MAX = 500;
  private static final int RETRY_BUSY_SECONDS = 1;

  private final Endings endings;
  private final Problems problems;

  public EndingRoutes(Endings endings, Problems problems) {
    this.endings = endings;
    this.problems = problems;
  }

  public void register(Endpoints endpoints) {
    Scope needed = Scope.IDS_WRITE;
    endpoints.json(
        HandlerType.POST, "/v1/ids/{id}/revoke", needed, RequestBody.BYTES_MAX, this::revoke);
    endpoints.json(
        HandlerType.POST, "/v1/ids/{id}/merge", needed, RequestBody.BYTES_MAX, this::merge);
    endpoints.json(
        HandlerType.POST,
        "/v1/ids/revoke",
        needed,
        RequestBody.BATCH_BYTES_MAX,
        ctx -> endAll(ctx, item -> revocation(item.allow("id", "reason"), item.string("id"))));
    endpoints.json(
        HandlerType.POST,
        "/v1/ids/merge",
        needed,
        RequestBody.BATCH_BYTES_MAX,
        ctx -> endAll(ctx, item -> merger(item.allow("id", "into"), item.string("id"))));
  }

  private void revoke(Context ctx) {
    Query.allow(ctx);
    RequestBody.Hashed body = RequestBody.readOptional(ctx);
    end(ctx, revocation(body.object().allow("reason"), ctx.pathParam("id")), body.sha256());
  }

  private void merge(Context ctx) {
    Query.allow(ctx);
    RequestBody.Hashed body = RequestBody.readHashed(ctx);
    end(ctx, merger(body.object().allow("into"), ctx.pathParam("id")), body.sha256());
  }

  private static Request revocation(JsonObject body, String id) {
    Optional<String> reason = body.optionalString("reason");
    if (reason.filter(text -> text.isBlank() || text.length() > REASON_LENGTH_MAX).isPresent()) {
      throw body.invalid(
          "reason", "A reason has 1 to " + REASON_LENGTH_MAX + " characters; or leave it out.");
    }
    return new Request.Revoke(id, reason);
  }

  private static Request merger(JsonObject body, String id) {
    return new Request.Merge(id, body.string("into"));
  }

  private void end(Context ctx, Request request, String bodyHash) {
    String requestId = RequestId.of(ctx);
    Function<List<EndOutcome>, Answer> render =
        outcomes ->
            switch (judged(outcomes.getFirst(), "")) {
              case Item.Sound<ResolveOutcome.Ended>(ResolveOutcome.Ended ended) ->
                  Answer.json(200, Views.PublicIdView.of(ended));
              case Item.Refused<ResolveOutcome.Ended>(Problem problem) ->
                  Problems.answer(problem, requestId);
            };
    answer(ctx, List.of(request), Endings.Mode.EACH, bodyHash, render);
  }

  private void endAll(Context ctx, Function<JsonObject, Request> parse) {
    Query.allow(ctx);
    RequestBody.Hashed body = RequestBody.readHashed(ctx);
    boolean atomic = body.object().allow("items", "atomic").bool("atomic", false);
    List<Item<Request>> items =
        body.object().objects("items", Endings.REQUESTS_MAX).stream()
            .map(item -> Items.parse(() -> parse.apply(item)))
            .toList();
    List<Request> sound = Items.sound(items);
    String requestId = RequestId.of(ctx);
    Function<List<EndOutcome>, Answer> render =
        outcomes -> answerAll(judged(items, outcomes), atomic, requestId);
    if (sound.isEmpty()) {
      render.apply(List.of()).send(ctx);
      return;
    }
    Endings.Mode ifAtomic =
        sound.size() == items.size() ? Endings.Mode.ALL_OR_NONE : Endings.Mode.NONE;
    answer(ctx, sound, atomic ? ifAtomic : Endings.Mode.EACH, body.sha256(), render);
  }

  private static Answer answerAll(
      List<Item<ResolveOutcome.Ended>> answers, boolean atomic, String requestId) {
    if (atomic && answers.stream().anyMatch(Item.Refused.class::isInstance)) {
      return Problems.answer(Problem.batchRefused(Items.errors(answers)), requestId);
    }
    Iterator<ResolveOutcome.Ended> ended = Items.sound(answers).iterator();
    return Items.answer(answers, index -> Views.ItemView.ended(index, ended.next()));
  }

  private void answer(
      Context ctx,
      List<Request> requests,
      Endings.Mode mode,
      String bodyHash,
      Function<List<EndOutcome>, Answer> render) {
    Optional<IdempotentCall<List<EndOutcome>>> once =
        IdempotencyHeader.once(ctx, "POST " + ctx.path() + " " + bodyHash, render);
    switch (endings.end(requests, mode, Endpoints.caller(ctx).principal(), once)) {
      case Endings.Result.Settled(List<EndOutcome> outcomes) -> render.apply(outcomes).send(ctx);
      case Endings.Result.Answered(StoredResponse answer, boolean replayed) ->
          IdempotencyHeader.send(ctx, answer, replayed);
      case Endings.Result.KeyReused _ -> problems.write(ctx, IdempotencyHeader.reused());
      case Endings.Result.Busy _ ->
          problems.write(
              ctx,
              Problem.retryAfter(
                  ProblemCode.BUSY,
                  "Another transaction is working on this public ID or Idempotency-Key. Nothing was"
                      + " done; send the same request again.",
                  RETRY_BUSY_SECONDS));
      case Endings.Result.Overloaded _ ->
          problems.write(
              ctx,
              Problem.retryAfter(
                  ProblemCode.OVERLOADED,
                  "More public IDs are being revoked and merged than can be done in time. Nothing"
                      + " was done; send the same request again.",
                  Problems.jitteredSeconds()));
    }
  }

  private static List<Item<ResolveOutcome.Ended>> judged(
      List<Item<Request>> items, List<EndOutcome> outcomes) {
    Iterator<EndOutcome> next = outcomes.iterator();
    List<Item<ResolveOutcome.Ended>> judged = new ArrayList<>(items.size());
    for (Item<Request> item : items) {
      judged.add(
          switch (item) {
            case Item.Sound<Request> _ -> judged(next.next(), "items[" + judged.size() + "].");
            case Item.Refused<Request>(Problem problem) -> new Item.Refused<>(problem);
          });
    }
    return judged;
  }

  /** The outcome of one item, whose fields are at {@code path}. */
  private static Item<ResolveOutcome.Ended> judged(EndOutcome outcome, String path) {
    return switch (outcome) {
      case EndOutcome.Done(ResolveOutcome.Ended ended) -> new Item.Sound<>(ended);
      case EndOutcome.Unknown(Side side) ->
          new Item.Refused<>(IdRoutes.unknownId(param(path, side)));
      case EndOutcome.Malformed(Side side, ResolveOutcome.Malformed malformed) ->
          new Item.Refused<>(IdRoutes.malformedId(param(path, side), malformed));
      case EndOutcome.EndedOtherwise(Side side) ->
          new Item.Refused<>(
              Problem.at(
                  ProblemCode.ID_ENDED,
                  param(path, side),
                  "It was revoked or merged before. GET /v1/ids/{id} says which; an ending is for"
                      + " good."));
      case EndOutcome.MergeRefused(Why why) ->
          new Item.Refused<>(
              Problem.at(ProblemCode.MERGE_REFUSED, param(path, Side.INTO), sentence(why)));
    };
  }

  private static String sentence(Why why) {
    return switch (why) {
      case ITSELF -> "A public ID can't be merged into itself.";
      case CYCLE -> "This one was merged into the other way round before: it would be a circle.";
      case OTHER_TYPE -> "Both must be of one type.";
    };
  }

  private static String param(String path, Side side) {
    return path + side.name().toLowerCase(Locale.ROOT);
  }
}
