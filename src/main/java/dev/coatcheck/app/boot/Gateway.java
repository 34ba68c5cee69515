package dev.coatcheck.app.boot;

import dev.coatcheck.api.console.ConsoleRoutes;
import dev.coatcheck.api.console.access.KeyPages;
import dev.coatcheck.api.console.access.SignInLink;
import dev.coatcheck.api.console.audit.AuditPages;
import dev.coatcheck.api.console.find.FindPages;
import dev.coatcheck.api.console.links.LinkPages;
import dev.coatcheck.api.console.migrations.MigrationPages;
import dev.coatcheck.api.console.overview.OverviewPage;
import dev.coatcheck.api.console.page.ConsoleMode;
import dev.coatcheck.api.console.types.TypePages;
import dev.coatcheck.api.exchange.RequestAccess;
import dev.coatcheck.api.gateway.HttpServer;
import dev.coatcheck.api.gateway.RouteTable;
import dev.coatcheck.api.routes.AliasRoutes;
import dev.coatcheck.api.routes.ChangeRoutes;
import dev.coatcheck.api.routes.EndingRoutes;
import dev.coatcheck.api.routes.ErasureRoutes;
import dev.coatcheck.api.routes.IdRoutes;
import dev.coatcheck.api.routes.InspectRoutes;
import dev.coatcheck.api.routes.MintRoutes;
import dev.coatcheck.api.routes.OperationsRoutes;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.routes.access.AccessRoutes;
import dev.coatcheck.api.routes.audit.AuditExport;
import dev.coatcheck.api.routes.audit.AuditRoutes;
import dev.coatcheck.api.routes.keys.BoundsRoutes;
import dev.coatcheck.api.routes.keys.FenceRoutes;
import dev.coatcheck.api.routes.keys.KeyRoutes;
import dev.coatcheck.api.routes.keys.LeaseRoutes;
import dev.coatcheck.api.routes.keys.SegmentRoutes;
import dev.coatcheck.api.routes.migrations.TableMigrationRoutes;
import dev.coatcheck.api.routes.transfers.TransferRoutes;
import dev.coatcheck.api.routes.types.PinRoutes;
import dev.coatcheck.api.routes.types.TypeChanges;
import dev.coatcheck.api.routes.types.TypeRoutes;
import dev.coatcheck.api.routes.urls.LegacyRoutes;
import dev.coatcheck.api.routes.urls.ProxyRoutes;
import dev.coatcheck.api.routes.urls.RedirectRoutes;
import dev.coatcheck.api.routes.urls.UrlRoutes;
import dev.coatcheck.api.server.PortInUse;
import dev.coatcheck.api.server.RateLimits;
import dev.coatcheck.bulk.export.Exporter;
import dev.coatcheck.bulk.load.Importer;
import dev.coatcheck.cluster.audit.Audit;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.cluster.change.Replica;
import dev.coatcheck.cluster.grant.KeyFence;
import dev.coatcheck.cluster.grant.Segments;
import dev.coatcheck.cluster.instance.Instances;
import dev.coatcheck.cluster.lease.ClientLeases;
import dev.coatcheck.cluster.lease.KeyFactory;
import dev.coatcheck.cluster.lease.Workers;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.History;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.ids.access.Access;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.ConsoleSessions;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.ending.Endings;
import dev.coatcheck.ids.ending.Erasures;
import dev.coatcheck.ids.idempotency.AnswerExpiry;
import dev.coatcheck.ids.mapping.IdParser;
import dev.coatcheck.ids.mapping.Lookup;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.mapping.SealedRows;
import dev.coatcheck.ids.mint.Minter;
import dev.coatcheck.ids.pin.Pins;
import dev.coatcheck.ids.redirect.IdResolver;
import dev.coatcheck.ids.redirect.LegacyCallers;
import dev.coatcheck.ids.redirect.LegacyHits;
import dev.coatcheck.ids.redirect.Redirector;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.url.ProxiedUrls;
import dev.coatcheck.ids.url.UrlPublisher;
import dev.coatcheck.ids.url.UrlResolver;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.run.KeyFileImport;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.HealthConnection;
import dev.coatcheck.postgres.connection.SmallPool;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.sql.DataSource;

/** Wires and starts the whole gateway in order, and closes it in reverse order. */
public final class Gateway implements AutoCloseable {
  private static final String HOLDER = holder();
  private static final long START_NANOS_MAX = Duration.ofSeconds(30).toNanos();
  private static final long START_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private volatile boolean isClosing;
  private final Config config;
  private final HttpServer server;
  private final Optional<Path> developmentKey;
  private final OpenDatabase openDatabase;

  private Gateway(Config config, Optional<SignInLink> signInLink) throws StartFailed {
    this.config = config;
    try {
      Observer observer = new Observer();
      RandomSource random = new RandomSource();
      InstantSource clock = InstantSource.system();
      OpenDatabase opened = opened(OpenDatabase.open(config, observer));
      this.openDatabase = opened;
      Database database = opened.database();
      ChangeFeed feed =
          opened(
              ChangeFeed.open(
                  opened.settings(), observer, System::nanoTime, System::currentTimeMillis));
      Access access =
          new Access(
              database,
              feed,
              config.accessStaleMax(),
              config.concurrency().resolveGroups(),
              observer,
              System::nanoTime);
      opened(access.recordUses());
      ApiKeys apiKeys = new ApiKeys(database, access::forget, config.limits().key(), random);
      this.developmentKey =
          config.database().isEmpty()
              ? Optional.of(DevelopmentKey.ensure(config.home(), access, apiKeys))
              : Optional.empty();
      Registry registry =
          opened(
              Registry.open(database, feed, config.sealKeys(), random, observer, System::nanoTime));
      requireSealKeys(registry);
      SealedRows sealedRows = opened(SealedRows.open(database, registry, feed, observer, clock));
      requireWindow(new Workers(database), config.leases().windowSeconds());
      DataSource leasePool = opened(SmallPool.open(opened.settings(), "lease"));
      KeyFactory keys =
          opened(
              new KeyFactory(
                  new KeyFactory.Leasing(
                      config.leases().workers(),
                      HOLDER,
                      config.leases().windowSeconds() * 1_000L,
                      leasePool),
                  database,
                  new Segments(
                      opened(Database.openBeside(opened.settings(), "segment", observer)),
                      observer,
                      System::nanoTime),
                  observer,
                  clock));
      keys.prepare(new KeyTimes.Snowflakes(SnowflakeLayout.DEFAULT));
      keys.tellLayoutsWithoutRange(registry.keyLayouts(_ -> true));
      Consumer<Type> prepare = type -> type.keyTimes().ifPresent(keys::prepare);
      registry.all().forEach(prepare);
      tellUnlisted(registry, config.redirectHosts(), observer);
      Function<Type, KeyGenerator> generators = type -> keys.of(type.generation());
      TokenSource tokens = new TokenSource(random);
      Sources sources = opened(new Sources(opened.settings(), config.sources(), observer));
      GatewayMappings gatewayMappings = new GatewayMappings(database, registry, tokens, observer);
      TableMigrations migrations =
          opened(new TableMigrations(gatewayMappings, sources, feed, HOLDER, System::nanoTime));
      IdParser parser = new IdParser(registry);
      Aliases aliases =
          new Aliases(
              database, feed, config.cachedMappingsMax(), config.concurrency().resolveGroups());
      Optional<Replica> replica = replica(database, feed, observer);
      Lookup lookup = new Lookup(database, replica, migrations.unmappedRows(), sealedRows);
      Resolver resolver =
          new Resolver(
              parser,
              aliases,
              lookup,
              sealedRows,
              feed,
              observer,
              config.cachedMappingsMax(),
              config.concurrency().resolveGroups());
      opened(AnswerExpiry.start(database, observer));
      Endings endings = new Endings(database, resolver);
      endings.warmUp();
      Erasures erasures = new Erasures(database, resolver, aliases);
      Minter minter =
          Minter.open(
              database,
              registry,
              tokens,
              generators,
              sealedRows,
              observer,
              config.concurrency().mintGroups());
      LegacyHits hits = opened(LegacyHits.open(database, observer, clock));
      LegacyCallers callers = opened(LegacyCallers.open(database, observer, clock));
      IdResolver ids =
          new IdResolver(
              parser, resolver, migrations.unmappedRows(), hits, callers, observer, clock, true);
      Redirector redirector =
          new Redirector(
              registry,
              parser,
              resolver,
              ids,
              config.redirectHosts(),
              observer::observe,
              clock,
              AllowedTypes.ALL);
      Audit audit = new Audit(database);
      AuditExport auditExport = new AuditExport(audit, observer);
      RedirectRoutes redirects = new RedirectRoutes(redirector, config.trustedProxies());
      UrlResolver urls = new UrlResolver(ids, registry, parser);
      Readiness readiness =
          new Readiness(
              opened(HealthConnection.open(opened.settings(), System::nanoTime)), feed, registry);
      Importer importer =
          new Importer(
              database,
              opened.settings(),
              registry,
              new Importer.MintingTools(
                  tokens, generators, type -> type.keyTimes().flatMap(keys::dated), observer),
              clock);
      Instances instances = opened(new Instances(database, HOLDER, feed::silent, observer, clock));
      Parameters parameters = new Parameters(registry);
      TypeChanges typeChanges = new TypeChanges(registry, config.redirectHosts(), prepare, clock);
      this.server =
          opened(
              new HttpServer(
                  new HttpServer.Listening(
                      config.host(),
                      config.port(),
                      config.publicPort(),
                      config.managementPort(),
                      config.tls(),
                      config.clients(),
                      config.concurrency().resolveGroups()),
                  new RouteTable(
                      redirects,
                      new IdRoutes(
                          resolver, ids, lookup, aliases, parameters, config.trustedProxies()),
                      new ProxyRoutes(
                          new ProxiedUrls(urls, redirector, registry), config.trustedProxies()),
                      new MintRoutes(minter, ids, parameters, clock),
                      new OperationsRoutes(readiness::isReady, observer),
                      new TableMigrationRoutes(
                          migrations,
                          new KeyFileImport(gatewayMappings, migrations),
                          registry,
                          parameters,
                          observer),
                      new ChangeRoutes(feed, registry, observer),
                      List.of(
                          new TypeRoutes(registry, parameters, typeChanges, clock),
                          new PinRoutes(registry, parameters, new Pins(database, clock)),
                          new AccessRoutes(apiKeys, config.trustedProxies(), System::nanoTime),
                          new AliasRoutes(resolver, ids, aliases, parameters),
                          new EndingRoutes(endings),
                          new ErasureRoutes(erasures),
                          new KeyRoutes(keys, new Workers(database), parameters, clock),
                          new BoundsRoutes(parameters, clock),
                          new SegmentRoutes(keys.segments()),
                          new FenceRoutes(new KeyFence(database)),
                          new LeaseRoutes(
                              new ClientLeases(
                                  database,
                                  config.leases().workers(),
                                  random,
                                  config.leases().windowSeconds() * 1_000L),
                              parameters,
                              clock),
                          new InspectRoutes(registry, clock),
                          new AuditRoutes(audit, auditExport),
                          new LegacyRoutes(ids, hits, callers, parameters, config.trustedProxies()),
                          new UrlRoutes(
                              urls, new UrlPublisher(lookup, registry), config.trustedProxies()),
                          new TransferRoutes(
                              importer,
                              new Exporter(opened.settings(), observer),
                              parameters,
                              observer)),
                      config.console() == ConsoleMode.OFF
                          ? Optional.empty()
                          : Optional.of(
                              new ConsoleRoutes(
                                  config.console(),
                                  new ConsoleSessions(database, access, random),
                                  config.trustedProxies(),
                                  new ConsoleRoutes.Verbs(
                                      new FindPages.Verbs(
                                          registry, parser, resolver, lookup, aliases, endings,
                                          erasures, redirects, audit),
                                      new OverviewPage.Verbs(
                                          instances,
                                          new Workers(database),
                                          opened(History.start(observer)),
                                          readiness::isReady),
                                      new TypePages.Verbs(
                                          registry,
                                          parameters,
                                          typeChanges,
                                          lookup,
                                          hits,
                                          callers,
                                          audit),
                                      new MigrationPages.Verbs(migrations, registry, sources),
                                      new KeyPages.Verbs(apiKeys, registry, audit, random),
                                      new AuditPages.Verbs(audit, auditExport),
                                      new LinkPages.Verbs(
                                          urls, redirector, registry, config.trustedProxies())),
                                  signInLink,
                                  observer,
                                  clock))),
                  new RequestAccess(access, config.trustedProxies()),
                  new RateLimits(config.limits(), config.trustedProxies(), System::nanoTime),
                  random,
                  observer));
      instances.announce(version(), url());
    } catch (PortInUse | DatabaseUnavailable failed) {
      close();
      throw new StartFailed(failed);
    } catch (StartFailed | RuntimeException failed) {
      close();
      throw failed;
    }
  }

  private static void tellUnlisted(Registry registry, RedirectHosts hosts, Observer observer) {
    List<String> unlisted =
        registry.all().stream().filter(type -> type.leadsBeyond(hosts)).map(Type::name).toList();
    if (!unlisted.isEmpty()) {
      observer.observe(new Event.RedirectsUnlisted(unlisted));
    }
  }

  private Optional<Replica> replica(Database primary, ChangeFeed feed, Observer observer)
      throws StartFailed {
    if (config.replica().isEmpty()) {
      return Optional.empty();
    }
    if (!openDatabase.settings().shards().isOneTable()) {
      throw new StartFailed(
          "%s is set, but the tables of this database are distributed, which a replica can't stand in for. Unset it."
              .formatted(Setting.DATABASE_REPLICA_URL.variable()));
    }
    try {
      return Optional.of(opened(Replica.open(config.replica().get(), primary, feed, observer)));
    } catch (UnusableDatabase | DatabaseUnavailable failed) {
      throw new StartFailed(failed);
    }
  }

  /** Its IDs would all be refused, and no later error would say so to whom can help. */
  private static void requireSealKeys(Registry registry) throws StartFailed {
    List<String> missing = new ArrayList<>();
    for (Type type : registry.all()) {
      for (Sealing.Era era : type.sealing().map(Sealing::erasWithoutKey).orElse(List.of())) {
        missing.add("type %s needs the seal key %s".formatted(type.name(), era.fingerprint()));
      }
    }
    if (!missing.isEmpty()) {
      throw new StartFailed(
          "The file of %s lacks seal keys: %s. Add them from its backup."
              .formatted(Setting.SEAL_KEYS_FILE.variable(), String.join(", ", missing)));
    }
  }

  /** All holders of workers have one window; with another one this instance would get no worker. */
  private static void requireWindow(Workers workers, int windowSeconds) throws StartFailed {
    OptionalLong known = workers.windowMillis();
    if (known.isPresent() && known.getAsLong() != windowSeconds * 1_000L) {
      throw new StartFailed(
          "%s is %d, and the leases of this database have a window of %d ms. Give every instance the same window; docs/leases.md says how to change it."
              .formatted(
                  Setting.LEASE_WINDOW_SECONDS.variable(), windowSeconds, known.getAsLong()));
    }
  }

  /** Starts, or fails with one line that says why. */
  public static Gateway start(Config config) throws StartFailed {
    return start(config, Optional.empty());
  }

  /** As above, with a console that can also be entered by a link. */
  public static Gateway start(Config config, SignInLink signInLink) throws StartFailed {
    return start(config, Optional.of(signInLink));
  }

  /** Begins from the start while the database answers too late: it may be busy for a moment. */
  private static Gateway start(Config config, Optional<SignInLink> signInLink) throws StartFailed {
    long begunNano = System.nanoTime();
    while (true) {
      try {
        return new Gateway(config, signInLink);
      } catch (StartFailed failed) {
        if (!failed.mayPass() || System.nanoTime() - begunNano > START_NANOS_MAX) {
          throw failed;
        }
      }
      LockSupport.parkNanos(START_PAUSE_NANOS);
    }
  }

  public String url() {
    return config.tls().map(_ -> "https").orElse("http")
        + "://"
        + config.host()
        + ":"
        + server.port();
  }

  public OptionalInt publicPort() {
    return server.publicPort();
  }

  /** The address of the console; empty if there is none. */
  public Optional<String> console() {
    if (server.consolePort().isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        managementPort().isEmpty()
            ? url() + "/console"
            : "http://" + config.host() + ":" + server.consolePort().getAsInt() + "/console");
  }

  public OptionalInt managementPort() {
    return server.managementPort();
  }

  /** The database, for further pools beside the gateway. */
  public DatabaseSettings databaseSettings() {
    return openDatabase.settings();
  }

  /** The file of the development key; empty unless the database is embedded. */
  public Optional<Path> developmentKey() {
    return developmentKey;
  }

  /**
   * From now on the process closes this at its exit, and then runs {@code closed}. Before this call
   * only an embedded Postgres is stopped at the exit.
   *
   * @throws IllegalStateException if the process is already exiting
   */
  public void closeAtExit(Runnable closed) {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  close();
                  closed.run();
                },
                "shutdown"));
    openDatabase.callerClosesAtExit();
  }

  /** Runs the task if the embedded Postgres ends, as by a kill, while the gateway is open. */
  public void onDatabaseEnd(Runnable task) {
    openDatabase.onEnd(
        () -> {
          if (!isClosing) {
            task.run();
          }
        });
  }

  /**
   * Stops accepting requests, finishes the accepted ones, then closes the database. A second thread
   * waits until the first has done so.
   */
  @Override
  public void close() {
    isClosing = true;
    synchronized (opened) {
      while (!opened.isEmpty()) {
        try {
          opened.pop().close();
        } catch (Exception broken) {
          org.slf4j.LoggerFactory.getLogger("coatcheck").warn("while closing", broken);
        }
      }
    }
  }

  private static String version() {
    return Objects.requireNonNullElse(
        Gateway.class.getPackage().getImplementationVersion(), "not packaged");
  }

  /** The name of this process among the holders of workers: host and process ID. */
  private static String holder() {
    try {
      return InetAddress.getLocalHost().getHostName() + "/" + ProcessHandle.current().pid();
    } catch (UnknownHostException unnamed) {
      return "unnamed/" + ProcessHandle.current().pid();
    }
  }

  private <T extends AutoCloseable> T opened(T part) {
    opened.push(part);
    return part;
  }
}
