package dev.coatcheck.api.server;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Failures;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.RequestAccess;
import dev.coatcheck.api.exchange.RequestId;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import io.javalin.Javalin;
import io.javalin.compression.CompressionStrategy;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import io.javalin.router.Endpoint;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.thread.ThreadPool;

/** Opens ports, all with the same rules. */
public final class Listener {
  private static final int HEADER_BYTES_MAX = 8 * 1024;

  /** Enough for a resolved URI of 6 KB, its types, and the usual headers. */
  private static final int ANSWER_HEADER_BYTES_MAX = 16 * 1024;

  private static final int THREADS_MIN = 3;
  private static final int THREADS_MAX = 200;
  private static final int STOP_MILLIS_MAX = 8_000;

  private final RequestAccess access;
  private final RandomSource random;
  private final Observer observer;
  private final Failures failures;
  private final Executor requestThreads;
  private final Limits limits;
  private final int ports;

  /**
   * The limits of a port.
   *
   * @param connectionsMax connections of clients at a time
   * @param selectors threads that read requests
   */
  public record Limits(int connectionsMax, int selectors) {}

  /**
   * Where to listen.
   *
   * @param number 0 for any free one
   * @param certificates for TLS; empty for plain HTTP
   */
  public record Port(String host, int number, Optional<Certificates> certificates) {}

  /**
   * Each port gets its own limits.
   *
   * @param ports how many there will be: they share the file descriptors of the process
   */
  public Listener(
      RequestAccess access,
      RandomSource random,
      Observer observer,
      Executor requestThreads,
      Limits limits,
      int ports) {
    this.access = access;
    this.random = random;
    this.observer = observer;
    this.failures = new Failures(observer);
    this.requestThreads = requestThreads;
    this.limits = limits;
    this.ports = ports;
  }

  /**
   * Starts to listen.
   *
   * @param handlers between the edge and the routes
   * @param rates of the clients of this port
   * @param permits for the requests of this port
   * @throws PortInUse if another program listens on the port
   */
  public Javalin listen(
      Port port,
      GracefulHandler handlers,
      RateLimits rates,
      Permits permits,
      Consumer<Endpoints> routes)
      throws PortInUse {
    Javalin server =
        Javalin.create(
            config -> {
              configure(config);
              config.jetty.addConnector((jetty, http) -> connector(jetty, http, port));
              config.jetty.modifyServer(jetty -> harden(jetty, handlers));
              routes.accept(new Endpoints(config.routes, access, rates, permits, observer));
            });
    try {
      return server.start(port.host(), port.number());
    } catch (RuntimeException failed) {
      throw PortInUse.unlessOther(failed, port.host(), port.number());
    }
  }

  private void configure(JavalinConfig config) {
    config.startup.showJavalinBanner = false;
    config.startup.showOldJavalinVersionWarning = false;
    config.startup.startupWatcherEnabled = false;
    config.jetty.threadPool = threads();
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
          // The cache would take 105 KB per connection for as long as it is open.
          http.setHeaderCacheSize(0);
        });
    config.routes.exception(
        HttpResponseException.class,
        (thrown, ctx) -> {
          allowed(thrown).ifPresent(methods -> ctx.header("Allow", methods));
          Answer.of(routing(thrown)).send(ctx);
        });
    config.routes.exception(
        Exception.class,
        (thrown, ctx) -> Answer.of(failures.problem(thrown, RequestId.of(ctx))).send(ctx));
    config.router.javaLangErrorHandler(
        (response, error) -> {
          observer.observe(new Event.RequestFailed("-", error));
          response.setStatus(500);
        });
    config.requestLogger.http(
        (ctx, millis) ->
            observer.observe(
                new Event.RequestServed(
                    ctx.method().name(),
                    route(ctx),
                    ctx.statusCode(),
                    Math.round(millis * 1_000_000d))));
  }

  /**
   * Each request has a virtual thread. Threads that read and accept are platform threads: virtual
   * ones would wait behind the requests, and new connections would be refused.
   */
  private ThreadPool threads() {
    ReadingThreads threads = new ReadingThreads(THREADS_MAX, THREADS_MIN);
    threads.setName("http");
    threads.setReservedThreads(0);
    threads.setVirtualThreadsExecutor(requestThreads);
    return threads;
  }

  private Connector connector(Server server, HttpConfiguration http, Port port) {
    if (port.certificates().isPresent()) {
      // A probe or a proxy may send another host than the certificate has, such as an address.
      http.addCustomizer(new SecureRequestCustomizer(false));
    }
    ConnectionFactory plain = new HeadLimit(http, observer);
    ServerConnector connector =
        port.certificates()
            .map(
                certificates ->
                    new ClientConnector(
                        server,
                        limits.selectors(),
                        new SslConnectionFactory(certificates.factory(), plain.getProtocol()),
                        plain))
            .orElseGet(() -> new ClientConnector(server, limits.selectors(), plain));
    connector.setHost(port.host());
    connector.setPort(port.number());
    ConnectionLimit.set(limits.connectionsMax(), ports, connector, observer);
    return connector;
  }

  /** Javalin adds its servlet to the innermost handler. */
  private void harden(Server server, GracefulHandler handlers) {
    Edge edge = new Edge(random);
    server.setStopTimeout(STOP_MILLIS_MAX);
    server.setErrorHandler(new ErrorPages(edge));
    edge.setHandler(handlers);
    server.setHandler(edge);
  }

  /** What Javalin itself refuses: unknown routes and wrong methods. */
  private static Problem routing(HttpResponseException thrown) {
    return thrown.getStatus() == 405 ? Problem.wrongMethod() : Problem.noSuchPath();
  }

  private static Optional<String> allowed(HttpResponseException thrown) {
    return Optional.ofNullable(thrown.getDetails().get("availableMethods"));
  }

  private static String route(Context ctx) {
    Endpoint endpoint = ctx.endpoints().lastHttpEndpoint();
    return endpoint == null ? "unmatched" : endpoint.path;
  }
}
