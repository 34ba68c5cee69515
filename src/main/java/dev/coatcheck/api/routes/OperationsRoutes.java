package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.OpenRoute;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Scope;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.nio.charset.StandardCharsets;
import java.util.function.BooleanSupplier;

/** Health, readiness and metrics, for operators and their tools. */
public final class OperationsRoutes implements Routes {
  private static final String PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

  private final BooleanSupplier ready;
  private final Observer observer;
  private volatile boolean draining;

  public OperationsRoutes(BooleanSupplier ready, Observer observer) {
    this.ready = ready;
    this.observer = observer;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.open(OpenRoute.LIVE, this::live);
    endpoints.open(OpenRoute.READY, this::ready);
  }

  /** On the public port the metrics need a key. */
  public void registerSecuredMetrics(Endpoints endpoints) {
    endpoints.secured(
        HandlerType.GET,
        OpenRoute.METRICS.path(),
        Scope.METRICS_READ,
        ctx -> {
          RequestCaller.requireAllTypes(ctx); // the metrics count by type
          return metrics(ctx);
        });
  }

  /** On the management port the metrics are open. */
  public void registerOpenMetrics(Endpoints endpoints) {
    endpoints.open(OpenRoute.METRICS, this::metrics);
  }

  /** Not ready from now on, also on the management port, which still accepts requests. */
  public void drain() {
    draining = true;
  }

  private record Health(String object, String status) {
    static final Health OK = new Health("health", "ok");
  }

  private Answer live(Context ctx) {
    return Answer.json(200, Health.OK);
  }

  private Answer ready(Context ctx) {
    if (draining) {
      return Answer.of(Problem.unavailable(ProblemCode.OVERLOADED, "The gateway is stopping."));
    }
    return ready.getAsBoolean()
        ? Answer.json(200, Health.OK)
        : Answer.of(
            Problem.unavailable(
                ProblemCode.DATABASE_UNAVAILABLE,
                "Send traffic to another instance until this answers 200."));
  }

  private Answer metrics(Context ctx) {
    byte[] text = observer.scrape().getBytes(StandardCharsets.UTF_8);
    return Answer.content(PROMETHEUS_TEXT, text);
  }
}
