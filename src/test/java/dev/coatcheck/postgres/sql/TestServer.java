package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.embedded.TestHome;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.ContainerLaunchException;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * The Postgres of the tests: the one that {@code COATCHECK_TEST_DATABASE_URL} names, else a
 * container where a Docker engine answers, else the embedded one.
 */
public final class TestServer {
  public static final Path PROGRAMS = Path.of("target", "postgres");

  private static final Logger LOG = LoggerFactory.getLogger(TestServer.class);
  private static final Pattern URL = Pattern.compile("(jdbc:postgresql://[^/?]+/)([^?]*)(\\?.*)?");
  private static final String IMAGE = "postgres:18";

  /**
   * What tests of the migration of tables look for, and a server takes only at its start; cheap
   * passwords, because tests open thousands of connections; and no vacuum, which would visit each
   * of the many databases every minute.
   */
  private static final Map<String, String> SETTINGS =
      Map.of(
          "max_prepared_transactions", "10",
          "shared_preload_libraries", "pg_stat_statements",
          "scram_iterations", "1",
          "autovacuum_naptime", "1d");

  private static final int DROPPED_MAX = 8;

  /** Not named as our schema is, which would be in its search path and hide a missing name. */
  private static final String USER = "tester";

  private static final List<Runnable> ENDS_BEFORE = new ArrayList<>();

  private static @Nullable TestServer shared;

  private final TestSql sql;
  private final Optional<TestCitus> citus;

  /** Distinguishes the databases of JVMs that use one server. */
  private final String prefix = "coatcheck_test_" + ProcessHandle.current().pid() + "_";

  private final List<String> databases = new ArrayList<>();
  private @Nullable String template;

  private TestServer(String url, String user, String password, String kind) {
    this.sql = new TestSql(url, user, password);
    this.citus = TestCitus.isChosen() ? Optional.of(new TestCitus(sql)) : Optional.empty();
    LOG.info("Tests use {}", kind);
  }

  static synchronized TestServer shared() {
    if (shared == null) {
      shared = start(System.getenv());
    }
    return shared;
  }

  synchronized TestDatabase migrated() {
    if (citus.isPresent()) {
      TestDatabase distributed = empty();
      distributed.sql().migrate();
      TestCitus.distribute(distributed);
      return distributed;
    }
    if (template == null) {
      String made = create("");
      database(made).sql().migrate();
      if ("partitioned".equals(System.getProperty("coatcheck.test.tables"))) {
        PartitionedTables.make(database(made).sql());
      }
      template = made;
    }
    return database(create(" template " + template));
  }

  synchronized TestDatabase empty() {
    return database(create(""));
  }

  private static TestServer start(Map<String, String> environment) {
    String given =
        environment.get(TestCitus.isChosen() ? TestCitus.URL : "COATCHECK_TEST_DATABASE_URL");
    if (given != null) {
      TestServer server =
          new TestServer(
              given,
              environment.getOrDefault("COATCHECK_TEST_DATABASE_USER", "postgres"),
              environment.getOrDefault("COATCHECK_TEST_DATABASE_PASSWORD", ""),
              "the Postgres of COATCHECK_TEST_DATABASE_URL");
      atExit(server::dropAll);
      return server;
    }
    if (!DockerClientFactory.instance().isDockerAvailable()) {
      return embedded();
    }
    try {
      return container();
    } catch (ContainerLaunchException noImage) {
      LOG.warn("No container of {}: {}", IMAGE, noImage.getMessage());
      return embedded();
    }
  }

  /** The container ends with the JVM. */
  private static TestServer container() {
    // The module's own command turns fsync off.
    List<String> command = new ArrayList<>(List.of("postgres", "-c", "max_connections=200"));
    SETTINGS.forEach((name, value) -> command.addAll(List.of("-c", name + "=" + value)));
    @SuppressWarnings("resource")
    PostgreSQLContainer container =
        new PostgreSQLContainer(IMAGE).withCommand(command.toArray(String[]::new));
    container.start();
    return new TestServer(
        container.getJdbcUrl(),
        container.getUsername(),
        container.getPassword(),
        "a container of " + IMAGE);
  }

  private static TestServer embedded() {
    Path home = home("test-database");
    try {
      EmbeddedDatabase database = withSettings(home);
      ensureUser(database);
      TestServer server =
          new TestServer(
              database.jdbcUrl(), USER, database.password(), "the embedded Postgres in " + home);
      server.adoptLeftovers();
      server.dropAll();
      atExit(() -> server.end(database, home));
      database.callerClosesAtExit();
      return server;
    } catch (UnusableDatabase failure) {
      throw new IllegalStateException(failure);
    }
  }

  /** A home for a database that no other process of the test run uses. */
  public static Path home(String name) {
    String fork = System.getProperty("coatcheck.test.fork", "");
    return Path.of("target", fork.isEmpty() ? name : name + "-" + fork);
  }

  /** Started twice the first time: what is set is read from the data directory. */
  private static EmbeddedDatabase withSettings(Path home) throws UnusableDatabase {
    EmbeddedDatabase database = EmbeddedDatabase.start(home, PROGRAMS);
    boolean changed = false;
    for (Map.Entry<String, String> setting : SETTINGS.entrySet()) {
      if (!setting.getValue().equals(TestSql.on(database).text("show " + setting.getKey()))) {
        TestSql.on(database)
            .execute("alter system set %s = '%s'".formatted(setting.getKey(), setting.getValue()));
        changed = true;
      }
    }
    if (!changed) {
      return database;
    }
    database.close();
    return EmbeddedDatabase.start(home, PROGRAMS);
  }

  private static void ensureUser(EmbeddedDatabase database) {
    TestSql.on(database)
        .execute(
            """
            do $$ begin
              if not exists (select from pg_roles where rolname = '%1$s') then
                create role %1$s superuser login;
              end if;
            end $$;
            alter role %1$s password '%2$s'\
            """
                .formatted(USER, database.password()));
  }

  private String create(String options) {
    String name = prefix + databases.size();
    if (citus.isPresent()) {
      citus.get().create(name);
    } else {
      sql.execute("create database " + name + options);
    }
    databases.add(name);
    return name;
  }

  private TestDatabase database(String name) {
    Matcher parts = URL.matcher(sql.url());
    if (!parts.matches()) {
      throw new IllegalStateException(
          "COATCHECK_TEST_DATABASE_URL is not jdbc:postgresql://HOST:PORT/DATABASE: " + sql.url());
    }
    String options = parts.group(3);
    String url = parts.group(1) + name + (options == null ? "" : options);
    return new TestDatabase(url, sql.user(), sql.password());
  }

  /** What a killed test run left. Only for a server that is ours alone. */
  private void adoptLeftovers() {
    databases.addAll(
        sql.texts("select datname from pg_database where datname like 'coatcheck\\_test\\_%'"));
  }

  private synchronized void dropAll() {
    if (citus.isPresent()) {
      databases.forEach(citus.get()::drop);
      databases.clear();
      return;
    }
    sql.execute(
        databases.stream()
            .map(database -> "drop database if exists " + database + " with (force)")
            .toArray(String[]::new));
    databases.clear();
  }

  /**
   * Each database that is dropped takes a checkpoint. The hundreds of a whole run would take longer
   * than Maven waits for the end of this process, so they go with their home.
   */
  private void end(EmbeddedDatabase database, Path home) throws UnusableDatabase {
    if (databases.size() > DROPPED_MAX) {
      TestHome.endAtOnce(home);
      database.close();
      TestHome.deleteLater(home);
    } else {
      dropAll();
      database.close();
    }
  }

  /** Has something end before the Postgres that it uses. */
  public static synchronized void endBefore(Runnable end) {
    ENDS_BEFORE.add(end);
  }

  private interface Ending {
    void run() throws UnusableDatabase;
  }

  private static void atExit(Ending ending) {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  try {
                    ENDS_BEFORE.forEach(Runnable::run);
                    ending.run();
                  } catch (UnusableDatabase | AssertionError | UncheckedIOException failure) {
                    LOG.warn("The test database did not end well", failure);
                  }
                }));
  }
}
