package dev.coatcheck.api.routes.keys;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.cluster.grant.SegmentDefinition;
import dev.coatcheck.cluster.grant.SegmentPut;
import dev.coatcheck.cluster.grant.SegmentState;
import dev.coatcheck.cluster.grant.Segments;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.access.Scope;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Counters of consecutive numbers: {@code /v1/segments}. */
public final class SegmentRoutes implements Routes {
  static final String TAG_RULE =
      "A tag is a lower-case letter, then up to 62 of a-z, 0-9 and underscore.";

  private final Segments segments;

  public SegmentRoutes(Segments segments) {
    this.segments = segments;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.json(HandlerType.PUT, "/v1/segments/{tag}", Scope.KEYS_WRITE, this::put);
    endpoints.secured(HandlerType.GET, "/v1/segments", Scope.KEYS_READ, this::list);
  }

  /** Numbers that can exceed 2^53 are strings. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record SegmentView(
      String object,
      String tag,
      String start,
      int stride,
      int bits,
      int stepMin,
      int stepMax,
      String granted,
      String remaining,
      int step,
      @Nullable Instant grantedAt) {
    static SegmentView of(SegmentState state) {
      SegmentDefinition definition = state.definition();
      return new SegmentView(
          "segment",
          definition.tag(),
          Long.toString(definition.start()),
          Math.toIntExact(definition.stride()),
          definition.bits(),
          definition.stepMin(),
          definition.stepMax(),
          Long.toString(state.granted()),
          Long.toString(state.remaining()),
          state.step(),
          state.grantedAt());
    }
  }

  private Answer put(Context ctx, RequestBody request) {
    RequestCaller.requireAllTypes(ctx);
    String tag = ctx.pathParam("tag");
    if (!SegmentDefinition.isTag(tag)) {
      throw Refusal.ofParameter("tag", TAG_RULE);
    }
    JsonObject body = request.object().allow("start", "stride", "bits", "step_min", "step_max");
    int limit = SegmentDefinition.STEP_LIMIT;
    SegmentDefinition wanted =
        new SegmentDefinition(
            tag,
            body.optionalString("start").map(text -> start(body, text)).orElse(1L),
            body.integer("stride", 1, limit, 1),
            body.integer("bits", Integer.SIZE, Long.SIZE, Long.SIZE),
            body.integer("step_min", 1, limit, SegmentDefinition.STEP_MIN_DEFAULT),
            body.integer("step_max", 1, limit, SegmentDefinition.STEP_MAX_DEFAULT));
    wanted
        .flaw()
        .ifPresent(
            flaw -> {
              throw body.invalid(flaw.field(), flaw.sentence());
            });
    return switch (segments.put(wanted, RequestCaller.actor(ctx))) {
      case SegmentPut.Created(SegmentState state) -> Answer.json(201, SegmentView.of(state));
      case SegmentPut.Replaced(SegmentState state) -> Answer.json(200, SegmentView.of(state));
      case SegmentPut.CountsOtherwise(String field) ->
          Answer.of(
              Problem.at(
                  ProblemCode.IMMUTABLE_FIELD,
                  field,
                  "This segment counts in another way, which can't be changed. Create another"
                      + " segment."));
    };
  }

  private static long start(JsonObject body, String text) {
    return Query.number(text)
        .orElseThrow(
            () -> body.invalid("start", "Send a decimal of up to 18 digits, as a string."));
  }

  private Answer list(Context ctx) {
    RequestCaller.requireAllTypes(ctx);
    Query.none(ctx);
    return Answer.json(200, ListView.of(segments.list().stream().map(SegmentView::of).toList()));
  }
}
