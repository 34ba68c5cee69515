package dev.coatcheck.api.gateway;

import dev.coatcheck.api.body.BodyGate;
import dev.coatcheck.api.console.ConsoleAssets;
import dev.coatcheck.api.exchange.Failures;
import dev.coatcheck.api.exchange.RequestAccess;
import dev.coatcheck.api.server.Listener;
import dev.coatcheck.api.server.Permits;
import dev.coatcheck.api.server.PortInUse;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.AddressRange;
import io.javalin.Javalin;
import java.net.InetAddress;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Executor;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.VirtualThreads;

/** Serves the gateway's port, and the management port if it is configured. */
public final class HttpServer implements AutoCloseable {
  /** Requests with a thread, whose bodies and answers may be large. */
  private static final int REQUESTS_MAX = 512;

  /**
   * Requests that wait for a row without a thread, in addition. Each holds some KB, and a refusal
   * would cost nearly as much as the answer.
   */
  private static final int WAITING_MAX = 2_048;

  private final Javalin gateway;
  private final Optional<Javalin> management;
  private final RouteTable routes;
  private final boolean isConsoleOnPort;

  private HttpServer(
      Javalin gateway, Optional<Javalin> management, RouteTable routes, boolean isConsoleOnPort) {
    this.gateway = gateway;
    this.management = management;
    this.routes = routes;
    this.isConsoleOnPort = isConsoleOnPort;
  }

  /**
   * Where to listen.
   *
   * @param port 0 for any free one
   * @param managementPort empty if health and metrics are on the gateway's port
   * @param limits of each port
   * @param batchesMax how many batches of reads, and of mints, run at a time
   */
  public record Listening(
      String host, int port, OptionalInt managementPort, Listener.Limits limits, int batchesMax) {
    /** Whether only programs of this machine reach the ports. */
    boolean isLoopback() {
      return host.equals("localhost")
          || AddressRange.literal(host.replaceAll("[\\[\\]]", ""))
              .filter(InetAddress::isLoopbackAddress)
              .isPresent();
    }
  }

  /**
   * Starts to listen.
   *
   * @throws PortInUse if another program listens on a port
   */
  public static HttpServer start(
      Listening where,
      RouteTable routes,
      RequestAccess access,
      RandomSource random,
      Observer observer)
      throws PortInUse {
    Executor threads = VirtualThreads.getNamedVirtualThreadsExecutor("request-");
    Listener listener = new Listener(access, random, observer, threads, where.limits());
    Permits permits = new Permits(REQUESTS_MAX, where.batchesMax());
    observer.gauge("coatcheck.batches.waiting", permits::batchesWaiting);
    BodyGate gate =
        new BodyGate(
            new FrontHandler(
                routes,
                new FrontRequest.Means(
                    access, new Permits(WAITING_MAX), observer, new Failures(observer), threads)),
            access,
            permits,
            observer,
            threads);
    boolean isConsoleOnPort =
        routes.console().isPresent() && where.managementPort().isEmpty() && where.isLoopback();
    Javalin gateway =
        listener.listen(
            where.host(),
            where.port(),
            new GracefulHandler(
                isConsoleOnPort
                    ? new ConsoleAssets(new DocsHandler(gate, observer, threads), threads)
                    : new DocsHandler(gate, observer, threads)),
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
            });
    if (where.managementPort().isEmpty()) {
      return new HttpServer(gateway, Optional.empty(), routes, isConsoleOnPort);
    }
    try {
      Javalin management =
          listener.listen(
              where.host(),
              where.managementPort().getAsInt(),
              routes.console().isPresent()
                  ? new GracefulHandler(new ConsoleAssets(threads))
                  : new GracefulHandler(),
              new Permits(REQUESTS_MAX),
              endpoints -> {
                routes.console().ifPresent(console -> console.register(endpoints));
                routes.operations().register(endpoints);
                routes.operations().registerOpenMetrics(endpoints);
              });
      return new HttpServer(gateway, Optional.of(management), routes, false);
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

  /** The port that has the console; empty if there is none. */
  public OptionalInt consolePort() {
    if (isConsoleOnPort) {
      return OptionalInt.of(port());
    }
    return routes.console().isPresent() ? managementPort() : OptionalInt.empty();
  }

  /** Finishes accepted requests within 8 s, then stops. */
  @Override
  public void close() {
    routes.operations().drain();
    routes.runs().close();
    gateway.stop();
    management.ifPresent(Javalin::stop);
  }
}
