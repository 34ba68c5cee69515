package dev.coatcheck.boot;

import dev.coatcheck.access.Access;
import dev.coatcheck.change.ChangeFeed;
import dev.coatcheck.db.Database;
import dev.coatcheck.db.SmallPool;
import dev.coatcheck.entrance.PortInUse;
import dev.coatcheck.fileimport.FileImports;
import dev.coatcheck.http.Capabilities;
import dev.coatcheck.http.HttpServer;
import dev.coatcheck.id.RandomSource;
import dev.coatcheck.id.TokenSource;
import dev.coatcheck.idempotency.Purge;
import dev.coatcheck.key.KeyGenerator;
import dev.coatcheck.key.SnowflakeLayout;
import dev.coatcheck.lease.Keys;
import dev.coatcheck.lease.LeaseSettings;
import dev.coatcheck.lease.Workers;
import dev.coatcheck.legacy.Legacy;
import dev.coatcheck.legacy.Redirector;
import dev.coatcheck.mapping.Mappings;
import dev.coatcheck.mint.Minter;
import dev.coatcheck.observe.Observer;
import dev.coatcheck.registry.Registry;
import dev.coatcheck.registry.Type;
import dev.coatcheck.source.Sources;
import dev.coatcheck.tablemigration.TableMigrations;
import dev.coatcheck.transfer.Importer;
import dev.coatcheck.transfer.Transfers;
import dev.coatcheck.url.UrlPublisher;
import dev.coatcheck.url.UrlResolver;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import javax.sql.DataSource;

/** The whole gateway: everything is made here, in start order, and closed in reverse. */
public final class Gateway implements AutoCloseable {
  private static final String HOLDER = holder();

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final Config config;
  private final HttpServer server;
  private final Optional<Path> developmentKey;

  private Gateway(Config config) throws StartFailed {
    this.config = config;
    try {
      Observer observer = new Observer();
      RandomSource random = new RandomSource();
      InstantSource clock = InstantSource.system();
      OpenDatabase opened = opened(OpenDatabase.open(config, observer));
      Database database = opened.database();
      ChangeFeed feed = opened(ChangeFeed.open(opened.settings(), observer, System::nanoTime));
      Access access =
          new Access(
              database, new Access.Trust(feed, config.accessStaleMax()), random, observer, clock);
      this.developmentKey =
          config.database().isEmpty()
              ? Optional.of(DevelopmentKey.ensure(config.home(), access))
              : Optional.empty();
      Registry registry = opened(Registry.open(database, feed, random, observer, System::nanoTime));
      DataSource leasePool = opened(SmallPool.open(opened.settings(), "lease")).dataSource();
      Keys keys = opened(new Keys(this::leaseSettings, leasePool, observer, clock));
      keys.prepare(SnowflakeLayout.DEFAULT);
      TokenSource tokens = new TokenSource(random);
      Function<Type, KeyGenerator> generators = type -> keys.of(type.keyScheme(), type.keyLayout());
      Mappings mappings =
          Mappings.open(database, registry, feed, observer, config.cachedMappingsMax());
      opened(Purge.start(database, observer));
      Minter minter = Minter.open(database, tokens, generators, observer);
      Sources sources = opened(Sources.open(opened.settings(), config.sources(), observer));
      TableMigrations migrations =
          opened(
              TableMigrations.start(
                  new TableMigrations.Makings(
                      database, sources, registry, tokens, observer, HOLDER)));
      Legacy legacy =
          opened(Legacy.open(database, registry, mappings.resolver(), migrations, observer, clock));
      this.server =
          opened(
              HttpServer.start(
                  new Capabilities(
                      registry,
                      config.redirectHosts(),
                      mappings,
                      minter,
                      new Redirector(mappings.resolver()),
                      legacy,
                      new UrlResolver(mappings.resolver(), registry),
                      new UrlPublisher(mappings.lookup(), registry),
                      Transfers.open(
                          database,
                          registry,
                          new Importer.Settling(tokens, generators, observer),
                          clock),
                      migrations,
                      new FileImports(database, migrations, registry, tokens, observer),
                      config.trustedProxies(),
                      keys,
                      new Workers(database),
                      access,
                      observer,
                      random,
                      clock,
                      database::isReachable),
                  config.host(),
                  config.port(),
                  config.managementPort()));
    } catch (PortInUse taken) {
      close();
      throw new StartFailed(String.valueOf(taken.getMessage()), taken);
    } catch (StartFailed | RuntimeException failed) {
      close();
      throw failed;
    }
  }

  /** Starts, or says in one line why not. */
  public static Gateway start(Config config) throws StartFailed {
    return new Gateway(config);
  }

  public String url() {
    return "http://" + config.host() + ":" + server.port();
  }

  public OptionalInt managementPort() {
    return server.managementPort();
  }

  /** The file of the development key; empty on a real database. */
  public Optional<Path> developmentKey() {
    return developmentKey;
  }

  /** Stops accepting, finishes what was accepted, then lets go of the database. */
  @Override
  public void close() {
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception broken) {
        org.slf4j.LoggerFactory.getLogger("coatcheck").warn("while closing", broken);
      }
    }
  }

  private LeaseSettings leaseSettings(SnowflakeLayout layout) {
    Config.LeaseLimits limits = config.leases();
    int most = layout.workersLeased() - 1;
    return new LeaseSettings(
        layout,
        Math.min(limits.firstWorker(), most),
        Math.min(limits.lastWorker(), most),
        HOLDER,
        limits.windowSeconds() * 1_000L);
  }

  /** Names this process among the holders of workers: host and process ID. */
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
