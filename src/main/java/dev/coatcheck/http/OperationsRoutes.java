package dev.coatcheck.http;

import dev.coatcheck.access.Scope;
import dev.coatcheck.observe.Observer;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.function.BooleanSupplier;

/** What operators and their machines ask: is it alive, is it ready, what does it count. */
final class OperationsRoutes {
  private static final String PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

  private final BooleanSupplier ready;
  private final Observer observer;

  OperationsRoutes(BooleanSupplier ready, Observer observer) {
    this.ready = ready;
    this.observer = observer;
  }

  void register(Endpoints endpoints) {
    endpoints.always(HandlerType.GET, "/health/live", ctx -> health(ctx, true));
    endpoints.always(HandlerType.GET, "/health/ready", ctx -> health(ctx, ready.getAsBoolean()));
  }

  /** On the public port the metrics need a key. */
  void registerSecuredMetrics(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/metrics", Scope.METRICS_READ, this::metrics);
  }

  /** On the management port they don't. */
  void registerOpenMetrics(Endpoints endpoints) {
    endpoints.always(HandlerType.GET, "/metrics", this::metrics);
  }

  private record Health(String status) {}

  private static void health(Context ctx, boolean good) {
    Answer.json(ctx, good ? 200 : 503, new Health(good ? "ok" : "unavailable"));
  }

  private void metrics(Context ctx) {
    ctx.header("Cache-Control", "no-store").contentType(PROMETHEUS_TEXT).result(observer.scrape());
  }
}
