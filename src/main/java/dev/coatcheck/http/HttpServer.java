package dev.coatcheck.http;

import dev.coatcheck.exchange.Problem;
import dev.coatcheck.exchange.ProblemCode;
import dev.coatcheck.exchange.Problems;
import dev.coatcheck.exchange.RequestId;
import dev.coatcheck.observe.Event;
import io.javalin.Javalin;
import io.javalin.compression.CompressionStrategy;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import io.javalin.router.Endpoint;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.ThreadPool;

/** The gateway's HTTP surface, and beside it a management port if one is wanted. */
public final class HttpServer implements AutoCloseable {
  private static final int REQUESTS_MAX = 512;
  private static final int HEADER_BYTES_MAX = 8 * 1024;

  /** A resolved URI of 6 KB, the types in it, and the usual. */
  private static final int ANSWER_HEADER_BYTES_MAX = 16 * 1024;

  private static final int THREADS_MIN = 3;
  private static final int THREADS_MAX = 200;
  private static final int STOP_MILLIS_MAX = 8_000;
  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS");

  private final Javalin gateway;
  private final Optional<Javalin> management;

  private HttpServer(Javalin gateway, Optional<Javalin> management) {
    this.gateway = gateway;
    this.management = management;
  }

  /**
   * Starts to listen.
   *
   * @param port 0 for any free one
   * @throws PortInUse if somebody else listens there
   */
  public static HttpServer start(
      Capabilities capabilities, String host, int port, OptionalInt managementPort)
      throws PortInUse {
    OperationsRoutes operations =
        new OperationsRoutes(capabilities.ready(), capabilities.observer());
    RedirectRoutes redirects = new RedirectRoutes(capabilities.redirector());
    IdRoutes ids =
        new IdRoutes(
            capabilities.mappings(),
            capabilities.registry(),
            new Problems(capabilities.observer()));
    Executor requestThreads = VirtualThreads.getNamedVirtualThreadsExecutor("request-");
    Javalin gateway =
        listen(
            capabilities,
            host,
            port,
            new GracefulHandler(
                new HotDoor(
                    redirects,
                    ids,
                    capabilities.access(),
                    capabilities.observer(),
                    requestThreads)),
            requestThreads,
            endpoints -> {
              registerAll(endpoints, capabilities);
              redirects.register(endpoints);
              ids.register(endpoints);
              operations.register(endpoints);
              if (managementPort.isEmpty()) {
                operations.registerSecuredMetrics(endpoints);
              }
            });
    if (managementPort.isEmpty()) {
      return new HttpServer(gateway, Optional.empty());
    }
    try {
      Javalin management =
          listen(
              capabilities,
              host,
              managementPort.getAsInt(),
              new GracefulHandler(),
              requestThreads,
              endpoints -> {
                operations.register(endpoints);
                operations.registerOpenMetrics(endpoints);
              });
      return new HttpServer(gateway, Optional.of(management));
    } catch (PortInUse taken) {
      gateway.stop();
      throw taken;
    }
  }

  public int port() {
    return gateway.port();
  }

  public OptionalInt managementPort() {
    return management.map(server -> OptionalInt.of(server.port())).orElse(OptionalInt.empty());
  }

  /** Finishes what was accepted, at most 8 s, then stops. */
  @Override
  public void close() {
    gateway.stop();
    management.ifPresent(Javalin::stop);
  }

  private static void registerAll(Endpoints endpoints, Capabilities all) {
    Problems problems = new Problems(all.observer());
    new TypeRoutes(all.registry(), all.redirectHosts(), all.clock(), problems).register(endpoints);
    new MintRoutes(all.minter(), all.registry(), problems).register(endpoints);
    new AliasRoutes(all.mappings(), problems).register(endpoints);
    new BatchRoutes(all.mappings(), all.registry()).register(endpoints);
    new EndingRoutes(all.mappings().endings(), problems).register(endpoints);
    new KeyRoutes(all.keys(), all.workers(), all.clock(), problems).register(endpoints);
    new LegacyRoutes(all.legacy(), all.trustedProxies(), all.registry(), problems)
        .register(endpoints);
    new LegacyHitRoutes(all.legacy().hits(), all.registry()).register(endpoints);
    new UrlRoutes(all.urls(), all.publisher(), problems).register(endpoints);
    new ProxyRoutes(all.urls()).register(endpoints);
    new TransferRoutes(all.transfers(), all.registry(), problems, all.observer())
        .register(endpoints);
    new DocsRoutes().register(endpoints);
  }

  private static Javalin listen(
      Capabilities capabilities,
      String host,
      int port,
      GracefulHandler handlers,
      Executor requestThreads,
      Consumer<Endpoints> routes)
      throws PortInUse {
    Problems problems = new Problems(capabilities.observer());
    Javalin server =
        Javalin.create(
            config -> {
              configure(config, capabilities, problems, requestThreads);
              config.jetty.modifyServer(
                  jetty -> harden(jetty, new Edge(capabilities.random()), handlers));
              routes.accept(
                  new Endpoints(
                      config.routes,
                      capabilities.access(),
                      new Admission(REQUESTS_MAX),
                      problems,
                      capabilities.observer()));
            });
    try {
      return server.start(host, port);
    } catch (RuntimeException failed) {
      throw PortInUse.unlessOther(failed, host, port);
    }
  }

  private static void configure(
      JavalinConfig config, Capabilities capabilities, Problems problems, Executor requestThreads) {
    config.startup.showJavalinBanner = false;
    config.startup.showOldJavalinVersionWarning = false;
    config.startup.startupWatcherEnabled = false;
    config.jetty.threadPool = threads(requestThreads);
    config.http.prefer405over404 = true;
    config.http.generateEtags = false;
    config.http.compressionStrategy = CompressionStrategy.NONE;
    config.router.treatMultipleSlashesAsSingleSlash = false;
    config.router.ignoreTrailingSlashes = false;
    config.jetty.modifyHttpConfiguration(
        http -> {
          http.setSendServerVersion(false);
          http.setSendXPoweredBy(false);
          http.setRequestHeaderSize(HEADER_BYTES_MAX);
          http.setResponseHeaderSize(ANSWER_HEADER_BYTES_MAX);
        });
    config.routes.exception(
        HttpResponseException.class,
        (thrown, ctx) -> {
          allowed(thrown).ifPresent(methods -> ctx.header("Allow", methods));
          problems.write(ctx, routing(thrown));
        });
    config.routes.exception(
        Exception.class,
        (thrown, ctx) -> problems.write(ctx, problems.of(thrown, RequestId.of(ctx))));
    config.router.javaLangErrorHandler(
        (response, error) -> {
          capabilities.observer().observe(new Event.RequestFailed("-", error));
          response.setStatus(500);
        });
    config.requestLogger.http(
        (ctx, millis) ->
            capabilities
                .observer()
                .observe(
                    new Event.RequestServed(
                        METHODS.contains(ctx.method().name()) ? ctx.method().name() : "other",
                        route(ctx),
                        ctx.statusCode(),
                        Math.round(millis * 1_000_000d))));
  }

  /**
   * A virtual thread for each request, but platform threads for reading and accepting: as virtual
   * ones they wait their turn behind the requests, and new connections are turned away.
   */
  private static ThreadPool threads(Executor requestThreads) {
    QueuedThreadPool threads = new QueuedThreadPool(THREADS_MAX, THREADS_MIN);
    threads.setName("http");
    threads.setReservedThreads(0);
    threads.setVirtualThreadsExecutor(requestThreads);
    return threads;
  }

  /** Javalin puts its servlet into the innermost of the handlers. */
  private static void harden(Server server, Edge edge, GracefulHandler handlers) {
    server.setStopTimeout(STOP_MILLIS_MAX);
    server.setErrorHandler(new ErrorPages(edge));
    edge.setHandler(handlers);
    server.setHandler(edge);
  }

  /** What Javalin itself refuses: no such route, or not with this method. */
  private static Problem routing(HttpResponseException thrown) {
    return thrown.getStatus() == 405
        ? Problem.of(ProblemCode.METHOD_NOT_ALLOWED, "Look at /docs for what there is.")
        : Problem.of(ProblemCode.NOT_FOUND, "Look at /docs for what there is.");
  }

  private static Optional<String> allowed(HttpResponseException thrown) {
    return Optional.ofNullable(thrown.getDetails().get("availableMethods"));
  }

  private static String route(Context ctx) {
    Endpoint endpoint = ctx.endpoints().lastHttpEndpoint();
    return endpoint == null ? "unmatched" : endpoint.path;
  }
}
