package dev.coatcheck.api.gateway;

import dev.coatcheck.api.body.BodyGate;
import dev.coatcheck.api.console.ConsoleRoutes;
import dev.coatcheck.api.console.page.ConsoleAssets;
import dev.coatcheck.api.exchange.Failures;
import dev.coatcheck.api.exchange.RequestAccess;
import dev.coatcheck.api.server.Certificates;
import dev.coatcheck.api.server.Listener;
import dev.coatcheck.api.server.Permits;
import dev.coatcheck.api.server.PortInUse;
import dev.coatcheck.api.server.RateLimits;
import dev.coatcheck.api.server.TlsFiles;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.AddressRange;
import io.javalin.Javalin;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.VirtualThreads;

/**
 * Serves the gateway's port and, if they are configured, the port for the public and the management
 * port.
 */
public final class HttpServer implements AutoCloseable {
  /** Requests with a thread, whose bodies and answers may be large. */
  private static final int REQUESTS_MAX = 512;

  /**
   * Requests that wait for a row without a thread, in addition. Each holds some KB, and a refusal
   * would cost nearly as much as the answer.
   */
  private static final int WAITING_MAX = 2_048;

  private final Listening where;
  private final RouteTable routes;
  private final RequestAccess access;
  private final RateLimits rates;
  private final Observer observer;
  private final Executor threads = VirtualThreads.getNamedVirtualThreadsExecutor("request-");
  private final Listener listener;
  private final Permits permits;
  private final FrontRequest.Means front;
  private final Optional<Certificates> certificates;
  private final List<Javalin> started = new ArrayList<>();
  private final Javalin gateway;
  private final Optional<Javalin> open;
  private final Optional<Javalin> management;

  /**
   * Where to listen.
   *
   * @param port 0 for any free one
   * @param publicPort a second port, for links only; empty for none
   * @param managementPort empty if health and metrics are on the gateway's port
   * @param tls of the gateway's port and the port for the public; empty for plain HTTP
   * @param limits of each port
   * @param batchesMax how many batches of reads, and of mints, run at a time
   */
  public record Listening(
      String host,
      int port,
      OptionalInt publicPort,
      OptionalInt managementPort,
      Optional<TlsFiles> tls,
      Listener.Limits limits,
      int batchesMax) {
    private int ports() {
      return 1 + (publicPort.isPresent() ? 1 : 0) + (managementPort.isPresent() ? 1 : 0);
    }

    /** Whether the gateway's own port has the console, if there is one. */
    boolean hasConsole() {
      return managementPort.isEmpty() && AddressRange.isLoopback(host);
    }
  }

  /**
   * Starts to listen.
   *
   * @throws PortInUse if another program listens on a port
   */
  public HttpServer(
      Listening where,
      RouteTable routes,
      RequestAccess access,
      RateLimits rates,
      RandomSource random,
      Observer observer)
      throws PortInUse {
    this.where = where;
    this.routes = routes;
    this.access = access;
    this.rates = rates;
    this.observer = observer;
    this.listener = new Listener(access, random, observer, threads, where.limits(), where.ports());
    this.permits = new Permits(REQUESTS_MAX, where.batchesMax());
    observer.gauge("coatcheck.batches.waiting", permits::batchesWaiting);
    this.front =
        new FrontRequest.Means(
            access, rates, new Permits(WAITING_MAX), observer, new Failures(observer), threads);
    this.certificates = where.tls().map(files -> Certificates.open(files, observer));
    try {
      this.gateway = openGateway();
      this.open = where.publicPort().isPresent() ? Optional.of(openPublic()) : Optional.empty();
      this.management =
          where.managementPort().isPresent() ? Optional.of(openManagement()) : Optional.empty();
    } catch (PortInUse | RuntimeException failed) {
      stop();
      throw failed;
    }
  }

  private Javalin openGateway() throws PortInUse {
    BodyGate gate = new BodyGate(access, rates, permits, observer, threads);
    gate.setHandler(new FrontHandler(routes, front, false));
    gate.measure();
    boolean isConsoleOnPort = routes.console().isPresent() && where.hasConsole();
    return started(
        listener.listen(
            new Listener.Port(where.host(), where.port(), certificates),
            new GracefulHandler(
                isConsoleOnPort
                    ? new ConsoleAssets(new DocsHandler(gate, observer, threads), threads)
                    : new DocsHandler(gate, observer, threads)),
            rates,
            permits,
            endpoints -> {
              routes.all().forEach(each -> each.register(endpoints));
              if (isConsoleOnPort) {
                routes.console().ifPresent(console -> console.register(endpoints));
              }
              if (where.managementPort().isEmpty()) {
                routes.operations().registerSecuredMetrics(endpoints);
              }
              gate.guard(endpoints.jsonRoutes());
            }));
  }

  /** Has no other routes, so that nothing in front of it can lead to them by mistake. */
  private Javalin openPublic() throws PortInUse {
    return started(
        listener.listen(
            new Listener.Port(where.host(), where.publicPort().getAsInt(), certificates),
            new GracefulHandler(new FrontHandler(routes, front, true)),
            rates,
            permits,
            endpoints -> {
              routes.redirects().register(endpoints);
              routes.operations().register(endpoints);
            }));
  }

  /** Without TLS and limits: it is for the machines beside the gateway. */
  private Javalin openManagement() throws PortInUse {
    RateLimits none = RateLimits.none();
    Permits own = new Permits(REQUESTS_MAX);
    BodyGate gate = new BodyGate(access, none, own, observer, threads);
    return listener.listen(
        new Listener.Port(where.host(), where.managementPort().getAsInt(), Optional.empty()),
        routes.console().isPresent()
            ? new GracefulHandler(new ConsoleAssets(gate, threads))
            : new GracefulHandler(gate),
        none,
        own,
        endpoints -> {
          routes.console().ifPresent(console -> console.register(endpoints));
          routes.operations().register(endpoints);
          routes.operations().registerOpenMetrics(endpoints);
          gate.guard(endpoints.jsonRoutes());
        });
  }

  private Javalin started(Javalin server) {
    started.add(server);
    return server;
  }

  public int port() {
    return gateway.port();
  }

  public OptionalInt publicPort() {
    return port(open);
  }

  public OptionalInt managementPort() {
    return port(management);
  }

  private static OptionalInt port(Optional<Javalin> server) {
    return server.map(found -> OptionalInt.of(found.port())).orElse(OptionalInt.empty());
  }

  /** The port that has the console; empty if there is none. */
  public OptionalInt consolePort() {
    if (routes.console().isEmpty()) {
      return OptionalInt.empty();
    }
    return where.hasConsole() ? OptionalInt.of(port()) : managementPort();
  }

  /** Finishes accepted requests within 8 s, then stops. */
  @Override
  public void close() {
    routes.operations().drain();
    routes.runs().close();
    routes.changes().close();
    routes.console().ifPresent(ConsoleRoutes::close);
    stop();
    management.ifPresent(Javalin::stop); // last: until then it says that the gateway isn't ready
  }

  private void stop() {
    // At the same time, so that all of them have stopped after 8 s.
    try (ExecutorService stopping = Executors.newVirtualThreadPerTaskExecutor()) {
      started.forEach(server -> stopping.execute(server::stop));
    }
    certificates.ifPresent(Certificates::close);
  }
}
