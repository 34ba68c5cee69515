package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Scope;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.function.BooleanSupplier;

/** What operators and their machines ask: is it alive, is it ready, what does it count. */
public final class OperationsRoutes {
  private static final String PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

  private final BooleanSupplier ready;
  private final Observer observer;
  private final Problems problems;
  private volatile boolean draining;

  public OperationsRoutes(BooleanSupplier ready, Observer observer) {
    this.ready = ready;
    this.problems = new Problems(observer);
    this.observer = observer;
  }

  public void register(Endpoints endpoints) {
    endpoints.always(HandlerType.GET, "/health/live", this::live);
    endpoints.always(HandlerType.GET, "/health/ready", this::ready);
  }

  /** On the public port the metrics need a key. */
  public void registerSecuredMetrics(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/metrics", Scope.METRICS_READ, this::metrics);
  }

  /** On the management port they don't. */
  public void registerOpenMetrics(Endpoints endpoints) {
    endpoints.always(HandlerType.GET, "/metrics", this::metrics);
  }

  /** Not ready from now on, also where requests are still taken: on the management port. */
  public void drain() {
    draining = true;
  }

  private record Health(String object, String status) {
    static final Health OK = new Health("health", "ok");
  }

  private void live(Context ctx) {
    Answer.json(ctx, 200, Health.OK);
  }

  private void ready(Context ctx) {
    if (draining) {
      problems.write(
          ctx,
          Problem.retryAfter(
              ProblemCode.OVERLOADED, "The gateway is stopping.", Problems.jitteredSeconds()));
    } else if (ready.getAsBoolean()) {
      Answer.json(ctx, 200, Health.OK);
    } else {
      problems.write(
          ctx,
          Problem.retryAfter(
              ProblemCode.DATABASE_UNAVAILABLE,
              "Send traffic elsewhere until this is 200.",
              Problems.jitteredSeconds()));
    }
  }

  private void metrics(Context ctx) {
    ctx.header("Cache-Control", "no-store").contentType(PROMETHEUS_TEXT).result(observer.scrape());
  }
}
