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
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.mapping.EndOutcome;
import dev.coatcheck.ids.mapping.EndOutcome.MergeRefused.Why;
import dev.coatcheck.ids.mapping.EndOutcome.Side;
import dev.coatcheck.ids.mapping.Endings;
import dev.coatcheck.ids.mapping.Endings.Request;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
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
    JsonObject body = RequestBody.read(ctx).allow("reason");
    end(ctx, revocation(body, ctx.pathParam("id")));
  }

  private void merge(Context ctx) {
    Query.allow(ctx);
    JsonObject body = RequestBody.read(ctx).allow("into");
    end(ctx, merger(body, ctx.pathParam("id")));
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

  private void end(Context ctx, Request request) {
    String by = Endpoints.caller(ctx).principal();
    answer(
        ctx,
        endings.end(List.of(request), Endings.Mode.EACH, by),
        outcomes -> {
          switch (judged(outcomes.getFirst(), "")) {
            case Item.Sound<ResolveOutcome.Ended>(ResolveOutcome.Ended ended) ->
                Answer.json(ctx, 200, Views.PublicIdView.of(ended));
            case Item.Refused<ResolveOutcome.Ended>(Problem problem) ->
                problems.write(ctx, problem);
          }
        });
  }

  private void endAll(Context ctx, Function<JsonObject, Request> parse) {
    Query.allow(ctx);
    JsonObject body = RequestBody.read(ctx).allow("items", "atomic");
    boolean atomic = body.bool("atomic", false);
    List<Item<Request>> items =
        body.objects("items", Endings.REQUESTS_MAX).stream()
            .map(item -> Items.parse(() -> parse.apply(item)))
            .toList();
    answer(
        ctx,
        result(items, atomic, Endpoints.caller(ctx).principal()),
        outcomes -> answerAll(ctx, judged(items, outcomes), atomic));
  }

  private void answerAll(Context ctx, List<Item<ResolveOutcome.Ended>> answers, boolean atomic) {
    if (atomic && answers.stream().anyMatch(Item.Refused.class::isInstance)) {
      problems.write(ctx, Problem.batchRefused(Items.errors(answers)));
      return;
    }
    Iterator<ResolveOutcome.Ended> ended = Items.sound(answers).iterator();
    Items.answer(answers, index -> Views.ItemView.ended(index, ended.next())).send(ctx);
  }

  private Endings.Result result(List<Item<Request>> items, boolean atomic, String by) {
    List<Request> sound = Items.sound(items);
    if (sound.isEmpty()) {
      return new Endings.Result.Settled(List.of());
    }
    Endings.Mode ifAtomic =
        sound.size() == items.size() ? Endings.Mode.ALL_OR_NONE : Endings.Mode.NONE;
    return endings.end(sound, atomic ? ifAtomic : Endings.Mode.EACH, by);
  }

  private void answer(Context ctx, Endings.Result result, Consumer<List<EndOutcome>> settled) {
    switch (result) {
      case Endings.Result.Settled(List<EndOutcome> outcomes) -> settled.accept(outcomes);
      case Endings.Result.Busy _ ->
          problems.write(
              ctx,
              Problem.retryAfter(
                  ProblemCode.BUSY,
                  "Another transaction is working on this public ID. Nothing was done; send the"
                      + " same request again.",
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
