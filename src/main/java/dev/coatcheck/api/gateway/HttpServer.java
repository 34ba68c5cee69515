package dev.coatcheck.api.gateway;

import dev.coatcheck.api.body.BodyGate;
import dev.coatcheck.api.routes.AliasRoutes;
import dev.coatcheck.api.routes.DocsRoutes;
import dev.coatcheck.api.routes.EndingRoutes;
import dev.coatcheck.api.routes.IdRoutes;
import dev.coatcheck.api.routes.KeyRoutes;
import dev.coatcheck.api.routes.MintRoutes;
import dev.coatcheck.api.routes.OperationsRoutes;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.routes.TypeRoutes;
import dev.coatcheck.api.routes.migrations.TableMigrationRoutes;
import dev.coatcheck.api.routes.transfers.TransferRoutes;
import dev.coatcheck.api.routes.urls.LegacyHitRoutes;
import dev.coatcheck.api.routes.urls.LegacyRoutes;
import dev.coatcheck.api.routes.urls.ProxyRoutes;
import dev.coatcheck.api.routes.urls.RedirectRoutes;
import dev.coatcheck.api.routes.urls.UrlRoutes;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Listener;
import dev.coatcheck.api.server.Permits;
import dev.coatcheck.api.server.PortInUse;
import io.javalin.Javalin;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Executor;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.VirtualThreads;

/** The gateway's HTTP surface, and beside it a management port if one is wanted. */
public final class HttpServer implements AutoCloseable {
  private static final int REQUESTS_MAX = 512;

  private final Javalin gateway;
  private final Optional<Javalin> management;
  private final TableMigrationRoutes runs;
  private final OperationsRoutes operations;

  private HttpServer(
      Javalin gateway,
      Optional<Javalin> management,
      TableMigrationRoutes runs,
      OperationsRoutes operations) {
    this.gateway = gateway;
    this.management = management;
    this.runs = runs;
    this.operations = operations;
  }

  /**
   * Where to listen.
   *
   * @param port 0 for any free one
   * @param managementPort empty if health and metrics stay on the gateway's port
   * @param connectionsMax of clients at a time, on each port
   */
  public record Listening(String host, int port, OptionalInt managementPort, int connectionsMax) {}

  /**
   * Starts to listen.
   *
   * @throws PortInUse if somebody else listens there
   */
  public static HttpServer start(Capabilities capabilities, Listening where) throws PortInUse {
    OperationsRoutes operations =
        new OperationsRoutes(capabilities.ready(), capabilities.observer());
    ProxyRoutes proxies = new ProxyRoutes(capabilities.urls());
    RedirectRoutes redirects = new RedirectRoutes(capabilities.redirector());
    Parameters parameters = new Parameters(capabilities.registry());
    TableMigrationRoutes runs =
        new TableMigrationRoutes(
            capabilities.tableMigrations(),
            capabilities.fileImports(),
            capabilities.registry(),
            parameters,
            capabilities.observer());
    IdRoutes ids = new IdRoutes(capabilities.mappings(), parameters);
    Executor requestThreads = VirtualThreads.getNamedVirtualThreadsExecutor("request-");
    Listener listener =
        new Listener(
            capabilities.access(),
            capabilities.random(),
            capabilities.observer(),
            requestThreads,
            where.connectionsMax());
    Permits permits = new Permits(REQUESTS_MAX);
    BodyGate gate =
        new BodyGate(
            new CachedAnswerHandler(
                new CachedAnswerHandler.Routes(redirects, ids, proxies),
                capabilities.access(),
                capabilities.observer(),
                requestThreads),
            capabilities.access(),
            permits,
            capabilities.observer(),
            requestThreads);
    Javalin gateway =
        listener.listen(
            where.host(),
            where.port(),
            new GracefulHandler(gate),
            permits,
            endpoints -> {
              registerAll(endpoints, parameters, capabilities);
              redirects.register(endpoints);
              proxies.register(endpoints);
              ids.register(endpoints);
              operations.register(endpoints);
              runs.register(endpoints);
              if (where.managementPort().isEmpty()) {
                operations.registerSecuredMetrics(endpoints);
              }
              gate.guard(endpoints.jsonRoutes());
            });
    if (where.managementPort().isEmpty()) {
      return new HttpServer(gateway, Optional.empty(), runs, operations);
    }
    try {
      Javalin management =
          listener.listen(
              where.host(),
              where.managementPort().getAsInt(),
              new GracefulHandler(),
              new Permits(REQUESTS_MAX),
              endpoints -> {
                operations.register(endpoints);
                operations.registerOpenMetrics(endpoints);
              });
      return new HttpServer(gateway, Optional.of(management), runs, operations);
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
    operations.drain();
    runs.close();
    gateway.stop();
    management.ifPresent(Javalin::stop);
  }

  private static void registerAll(Endpoints endpoints, Parameters parameters, Capabilities all) {
    new TypeRoutes(all.registry(), parameters, all.redirectHosts(), all.clock())
        .register(endpoints);
    new MintRoutes(all.minter(), parameters).register(endpoints);
    new AliasRoutes(all.mappings(), parameters).register(endpoints);
    new EndingRoutes(all.endings()).register(endpoints);
    new KeyRoutes(all.keys(), all.workers(), all.clock()).register(endpoints);
    new LegacyRoutes(all.legacy(), all.trustedProxies(), parameters).register(endpoints);
    new LegacyHitRoutes(all.legacy().hits(), parameters).register(endpoints);
    new UrlRoutes(all.urls(), all.publisher()).register(endpoints);
    new TransferRoutes(all.transfers(), parameters, all.observer()).register(endpoints);
    new DocsRoutes().register(endpoints);
  }
}
