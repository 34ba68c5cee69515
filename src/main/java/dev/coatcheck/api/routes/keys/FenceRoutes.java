package dev.coatcheck.api.routes.keys;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.cluster.grant.KeyFence;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.access.Scope;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;

/** The fence that a failover raises: {@code /v1/keys/fence}. */
public final class FenceRoutes implements Routes {
  private final KeyFence fence;

  public FenceRoutes(KeyFence fence) {
    this.fence = fence;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.json(HandlerType.POST, "/v1/keys/fence", Scope.ALL, this::lift);
  }

  /**
   * @param advance how many numbers have been skipped since the first start
   */
  private record FenceView(String object, boolean wasClosed, long advance, int datedWorker) {
    static FenceView of(KeyFence.Lift.Open open) {
      return new FenceView(
          "key_fence", open.wasClosed(), open.segmentAdvance(), open.datedWorker());
    }
  }

  private Answer lift(Context ctx, RequestBody request) {
    RequestCaller.requireAllTypes(ctx);
    IdempotencyHeader.refuse(
        ctx,
        "No answer is stored for this call. Leave the header out; lifting an open fence does"
            + " nothing.");
    JsonObject body = request.object().allow("advance", "dated_worker");
    int advance = body.integer("advance", 0, KeyFence.ADVANCE_MAX);
    int datedWorker = body.integer("dated_worker", 1, KeyFence.DATED_WORKER_MAX, 1);
    return switch (fence.lift(advance, datedWorker, RequestCaller.actor(ctx))) {
      case KeyFence.Lift.Open open -> Answer.json(200, FenceView.of(open));
      case KeyFence.Lift.WorkerUsed(int last) ->
          throw body.invalid(
              "dated_worker",
              "The fence is closed. Send the next dated worker: a number greater than "
                  + last
                  + ", the last that this database knows, and than any that was named on another"
                  + " primary.");
    };
  }
}
