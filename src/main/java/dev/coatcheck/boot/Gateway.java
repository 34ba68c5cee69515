package dev.coatcheck.boot;

import dev.coatcheck.access.Access;
import dev.coatcheck.db.Database;
import dev.coatcheck.http.Capabilities;
import dev.coatcheck.http.HttpServer;
import dev.coatcheck.http.PortInUse;
import dev.coatcheck.id.RandomSource;
import dev.coatcheck.id.TokenSource;
import dev.coatcheck.key.KeyGenerator;
import dev.coatcheck.key.Snowflake;
import dev.coatcheck.key.SnowflakeLayout;
import dev.coatcheck.key.UuidV7;
import dev.coatcheck.legacy.Redirector;
import dev.coatcheck.mapping.Mappings;
import dev.coatcheck.observe.Observer;
import dev.coatcheck.registry.Registry;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalInt;

/** The whole gateway: everything is made here, in start order, and closed in reverse. */
public final class Gateway implements AutoCloseable {
  /** One worker for everybody, until workers are leased. */
  private static final int WORKER = 0;

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final Config config;
  private final HttpServer server;
  private final Optional<Path> developmentKey;

  private Gateway(Config config) throws StartFailed {
    this.config = config;
    try {
      Observer observer = new Observer();
      RandomSource random = new RandomSource();
      Database database = opened(OpenDatabase.open(config, observer)).database();
      Access access = new Access(database, random, observer, InstantSource.system());
      this.developmentKey =
          config.database().isEmpty()
              ? Optional.of(DevelopmentKey.ensure(config.home(), access))
              : Optional.empty();
      Registry registry = opened(Registry.open(database, random, observer, System::nanoTime));
      KeyGenerator snowflake = new Snowflake(SnowflakeLayout.DEFAULT, WORKER);
      KeyGenerator uuidV7 = new UuidV7();
      Mappings mappings =
          Mappings.open(
              database,
              registry,
              new TokenSource(random),
              type ->
                  switch (type.keyScheme()) {
                    case SNOWFLAKE -> snowflake;
                    case UUIDV7 -> uuidV7;
                  },
              observer,
              config.cachedMappingsMax());
      this.server =
          opened(
              HttpServer.start(
                  new Capabilities(
                      registry,
                      config.redirectHosts(),
                      mappings,
                      new Redirector(mappings.resolver()),
                      access,
                      observer,
                      random,
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

  private <T extends AutoCloseable> T opened(T part) {
    opened.push(part);
    return part;
  }
}
