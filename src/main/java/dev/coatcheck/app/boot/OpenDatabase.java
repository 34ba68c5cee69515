package dev.coatcheck.app.boot;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Shards;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.SchemaMigration;
import dev.coatcheck.postgres.sql.ServerCheck;
import java.util.List;
import java.util.Optional;

/**
 * Opens the configured database: starts an embedded Postgres if there is none, and migrates the
 * schema, or only checks it if the settings say so.
 */
public final class OpenDatabase implements AutoCloseable {
  /** A command does one thing at a time, and shares Postgres with a running gateway. */
  private static final int COMMAND_CONNECTIONS_MAX = 2;

  private final Optional<EmbeddedDatabase> embedded;
  private final DatabaseSettings settings;
  private final Database database;
  private final List<String> applied;

  /** The home of an embedded database. */
  private enum Home {
    /** Of this process alone. */
    OWN,
    /** Another process may run on it. */
    SHARED,
    /** The same, and it must have been made before. */
    EXISTING
  }

  private OpenDatabase(
      Optional<EmbeddedDatabase> embedded,
      DatabaseSettings settings,
      Database database,
      List<String> applied) {
    this.embedded = embedded;
    this.settings = settings;
    this.database = database;
    this.applied = applied;
  }

  /** Opens the database, or fails with one line that says why. */
  public static OpenDatabase open(Config config, Observer observer) throws StartFailed {
    return open(config, config.migrates(), Home.OWN, observer);
  }

  /**
   * Like {@link #open}, for a command that may run beside a gateway: if an instance runs on the
   * home, the command uses its embedded Postgres and leaves it running.
   */
  public static OpenDatabase openBeside(Config config, Observer observer) throws StartFailed {
    return open(config, config.migrates(), Home.SHARED, observer);
  }

  /** Like {@link #openBeside}, and never makes an embedded database where there is none. */
  public static OpenDatabase openExisting(Config config, Observer observer) throws StartFailed {
    return open(config, config.migrates(), Home.EXISTING, observer);
  }

  /** Like {@link #openExisting}, but always applies the migrations. */
  public static OpenDatabase migrate(Config config, Observer observer) throws StartFailed {
    return open(config, true, Home.EXISTING, observer);
  }

  /** Like {@link #openExisting}, but checks the schema without migrating it. */
  public static OpenDatabase check(Config config, Observer observer) throws StartFailed {
    return open(config, false, Home.EXISTING, observer);
  }

  private static OpenDatabase open(Config config, boolean migrates, Home home, Observer observer)
      throws StartFailed {
    try {
      Optional<DatabaseSettings> running = config.database();
      if (running.isEmpty() && home != Home.OWN) {
        running = EmbeddedDatabase.running(config.home(), COMMAND_CONNECTIONS_MAX);
      }
      if (running.isPresent()) {
        return opened(Optional.empty(), running.get(), migrates, observer);
      }
      if (home == Home.EXISTING && !EmbeddedDatabase.isIn(config.home())) {
        throw new StartFailed(
            "There is no embedded database in %s. Run this in the folder of the gateway, or name its home with --home, or its database with --database-url."
                .formatted(config.home()));
      }
      EmbeddedDatabase embedded = EmbeddedDatabase.start(config.home());
      DatabaseSettings settings =
          new DatabaseSettings(
              embedded.jdbcUrl(),
              embedded.user(),
              embedded.password(),
              config.concurrency().connections());
      try {
        return opened(Optional.of(embedded), settings, migrates, observer);
      } catch (UnusableDatabase | DatabaseUnavailable failed) {
        embedded.close();
        throw failed;
      }
    } catch (UnusableDatabase | DatabaseUnavailable failed) {
      throw new StartFailed(failed);
    }
  }

  /** From now on the caller closes this at the exit of the process. */
  void callerClosesAtExit() {
    embedded.ifPresent(EmbeddedDatabase::callerClosesAtExit);
  }

  /** Runs the task once the embedded Postgres has ended, if there is one. */
  void onEnd(Runnable task) {
    embedded.ifPresent(
        postgres -> {
          var _ = postgres.end().thenRun(task);
        });
  }

  /** For more pools on the same database. */
  public DatabaseSettings settings() {
    return settings;
  }

  public Database database() {
    return database;
  }

  /** The migrations that were applied when this was opened, each as {@code 008 audit}. */
  public List<String> applied() {
    return applied;
  }

  @Override
  public void close() throws StartFailed {
    database.close();
    if (embedded.isPresent()) {
      try {
        embedded.get().close();
      } catch (UnusableDatabase failed) {
        throw new StartFailed(failed);
      }
    }
  }

  private static OpenDatabase opened(
      Optional<EmbeddedDatabase> embedded,
      DatabaseSettings unbounded,
      boolean migrates,
      Observer observer)
      throws UnusableDatabase {
    Database database = null;
    try {
      unbounded.requireReachable();
      DatabaseSettings settings = unbounded.boundedIfPossible();
      database = Database.open(settings, "hot", observer);
      List<String> applied = List.of();
      if (migrates) {
        applied = SchemaMigration.run(database, settings);
      } else {
        SchemaMigration.check(database, settings).ifPresent(observer::observe);
      }
      ServerCheck.missingBounds(database)
          .ifPresent(remedy -> observer.observe(new Event.StatementsUnbounded(remedy)));
      Shards shards = ServerCheck.shards(database);
      if (!shards.isOneTable()) {
        settings = settings.over(shards);
        database.close();
        database = Database.open(settings, "hot", observer);
      }
      return new OpenDatabase(embedded, settings, database, applied);
    } catch (UnusableDatabase | DatabaseUnavailable failed) {
      if (database != null) {
        database.close();
      }
      throw failed;
    }
  }
}
