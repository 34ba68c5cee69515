package dev.coatcheck.api.routes.keys;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.JsonObject;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.cluster.grant.KeyFence;
import dev.coatcheck.ids.access.Scope;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;

/** The fence that a failover puts up: {@code /v1/keys/fence}. */
final class FenceRoutes implements Routes {
  private final KeyFence fence;

  FenceRoutes(KeyFence fence) {
    this.fence = fence;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.json(HandlerType.POST, "/v1/keys/fence", Scope.ALL, this::lift);
  }

  /** All numbers are those since the first start. */
  private record FenceView(String object, boolean wasClosed, long advance, long datedAdvance) {
    static FenceView of(KeyFence.Lifted lifted) {
      return new FenceView(
          "key_fence", lifted.wasClosed(), lifted.segmentAdvance(), lifted.datedAdvance());
    }
  }

  private Answer lift(Context ctx, RequestBody request) {
    IdempotencyHeader.refuse(
        ctx,
        "No answer is stored for this call. Leave the header out; lifting the fence again only"
            + " skips more.");
    JsonObject body = request.object().allow("advance", "dated_advance");
    int advance = body.integer("advance", 0, KeyFence.ADVANCE_MAX);
    int datedAdvance =
        body.integer("dated_advance", 0, KeyFence.ADVANCE_MAX, KeyFence.DATED_ADVANCE_DEFAULT);
    return Answer.json(200, FenceView.of(fence.lift(advance, datedAdvance)));
  }
}
