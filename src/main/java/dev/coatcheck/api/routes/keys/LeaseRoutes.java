package dev.coatcheck.api.routes.keys;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.IdProblems;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.cluster.lease.ClientLeases;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.access.Scope;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Instant;
import java.time.InstantSource;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Leases of workers for programs that make their keys themselves: {@code /v1/leases}. */
public final class LeaseRoutes implements Routes {
  private final ClientLeases leases;
  private final Parameters parameters;
  private final InstantSource clock;

  public LeaseRoutes(ClientLeases leases, Parameters parameters, InstantSource clock) {
    this.leases = leases;
    this.parameters = parameters;
    this.clock = clock;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.json(HandlerType.POST, "/v1/leases", Scope.KEYS_WRITE, this::acquire);
    endpoints.json(HandlerType.PUT, "/v1/leases/{id}", Scope.KEYS_WRITE, this::renew);
    endpoints.bodiless(HandlerType.DELETE, "/v1/leases/{id}", Scope.KEYS_WRITE, this::release);
  }

  /**
   * @param id only in the answer to an acquire
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record LeaseView(
      String object,
      @Nullable String id,
      String layout,
      int worker,
      long epoch,
      Instant from,
      Instant until) {
    static LeaseView of(@Nullable String id, ClientLeases.Window window) {
      return new LeaseView(
          "lease",
          id,
          window.layout().name(),
          window.worker(),
          window.epoch(),
          window.from(),
          window.until());
    }
  }

  private Answer acquire(Context ctx, RequestBody request) {
    IdempotencyHeader.refuse(
        ctx,
        "A repeated answer would give one window to two holders. Leave the header out; the lease of"
            + " a lost answer ends by itself.");
    JsonObject body = request.object().allow("layout", "holder");
    SnowflakeLayout layout =
        Parameters.layout(body, body.optionalString("layout"), clock.instant());
    String holder = body.string("holder");
    if (!ClientLeases.isHolder(holder)) {
      throw body.invalid("holder", "Send 1 to 64 visible ASCII characters, without spaces.");
    }
    String principal = RequestCaller.principal(ctx);
    return switch (leases.acquire(
        layout,
        parameters.isOnlySpelled(layout),
        holder,
        principal,
        RequestCaller.of(ctx).caller().rights().leasesMax())) {
      case ClientLeases.Acquisition.Granted(String id, ClientLeases.Window window) ->
          Answer.json(201, LeaseView.of(id, window));
      case ClientLeases.Acquisition.NoneFree(String reason, long retryAfterMillis) ->
          Answer.of(IdProblems.keysUnavailable(new KeyOutcome.Refused(reason, retryAfterMillis)));
      case ClientLeases.Acquisition.TooManyLayouts _ -> throw Parameters.tooManyLayouts(body);
      case ClientLeases.Acquisition.NoWorkerRange(SnowflakeLayout without) ->
          Answer.of(IdProblems.keysUnavailable(new KeyOutcome.NoWorkerRange(without.name())));
      case ClientLeases.Acquisition.OneWorkerOnly(SnowflakeLayout layoutOfOne) ->
          Answer.of(
              Problem.unavailable(
                  ProblemCode.NO_WORKER_RANGE,
                  "This instance may lease one worker of the layout "
                      + layoutOfOne.name()
                      + ", and keeps it for its own keys. Send the request to another instance, or"
                      + " give this one a larger range in COATCHECK_WORKERS."));
      case ClientLeases.Acquisition.TooMany _ ->
          Answer.of(
              Problem.of(
                  ProblemCode.LEASES_EXHAUSTED,
                  "The principal has as many leases as lease_max of its API key allows. Release"
                      + " one; a worker counts until its window has ended, a lease without"
                      + " renewals ends after 15 seconds."));
    };
  }

  private Answer renew(Context ctx, RequestBody request) {
    JsonObject body = request.object().allow("epoch", "until");
    OptionalLong epoch = body.wholeNumber("epoch");
    if (epoch.isEmpty()) {
      throw body.missing("epoch", "Send the epoch of the lease.");
    }
    if (epoch.getAsLong() < 1) {
      throw body.invalid("epoch", "This must be the epoch of the lease, an integer from 1 on.");
    }
    Instant until =
        body.optionalTime("until")
            .orElseThrow(() -> body.missing("until", "Send the end of the window granted last."));
    return switch (leases.renew(
        ctx.pathParam("id"),
        RequestCaller.principal(ctx),
        epoch.getAsLong(),
        until.toEpochMilli())) {
      case ClientLeases.Renewal.Renewed(ClientLeases.Window window) ->
          Answer.json(200, LeaseView.of(null, window));
      case ClientLeases.Renewal.Stale _ ->
          Answer.of(
              Problem.of(
                  ProblemCode.LEASE_STALE,
                  "The lease has ended, or another process renewed it. Use no millisecond after"
                      + " the window that you have, and acquire another lease."));
      case ClientLeases.Renewal.Unknown _ -> unknown();
    };
  }

  private Answer release(Context ctx) {
    Query.none(ctx);
    return leases.release(ctx.pathParam("id"), RequestCaller.principal(ctx))
        ? Answer.empty(204)
        : unknown();
  }

  private static Answer unknown() {
    return Answer.of(
        Problem.at(
            ProblemCode.LEASE_UNKNOWN,
            "id",
            "No lease of this principal has this ID, or its worker has another holder."));
  }
}
