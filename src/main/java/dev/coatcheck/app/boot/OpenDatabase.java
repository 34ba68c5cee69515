package dev.coatcheck.app.boot;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.SchemaMigration;
import dev.coatcheck.postgres.sql.ServerCheck;
import java.util.Optional;

/**
 * Opens the configured database: starts an embedded Postgres if there is none, and migrates the
 * schema.
 */
public final class OpenDatabase implements AutoCloseable {
  /** A command does one thing at a time, and shares Postgres with a running gateway. */
  private static final int COMMAND_CONNECTIONS_MAX = 2;

  private final Optional<EmbeddedDatabase> embedded;
  private final DatabaseSettings settings;
  private final Database database;

  private OpenDatabase(
      Optional<EmbeddedDatabase> embedded, DatabaseSettings settings, Database database) {
    this.embedded = embedded;
    this.settings = settings;
    this.database = database;
  }

  /** Opens the database, or fails with one line that says why. */
  public static OpenDatabase open(Config config, Observer observer) throws StartFailed {
    try {
      if (config.database().isPresent()) {
        return migrated(Optional.empty(), config.database().get(), observer);
      }
      EmbeddedDatabase embedded = EmbeddedDatabase.start(config.home());
      DatabaseSettings settings =
          new DatabaseSettings(
              embedded.jdbcUrl(),
              embedded.user(),
              embedded.password(),
              config.concurrency().connections());
      try {
        return migrated(Optional.of(embedded), settings, observer);
      } catch (UnusableDatabase | DatabaseUnavailable failed) {
        embedded.close();
        throw failed;
      }
    } catch (UnusableDatabase | DatabaseUnavailable failed) {
      throw new StartFailed(failed);
    }
  }

  /**
   * Like {@link #open}, for a command that may run beside a gateway: if an instance runs on the
   * home, the command uses its embedded Postgres and leaves it running.
   */
  public static OpenDatabase openBeside(Config config, Observer observer) throws StartFailed {
    if (config.database().isEmpty()) {
      try {
        Optional<DatabaseSettings> running =
            EmbeddedDatabase.running(config.home(), COMMAND_CONNECTIONS_MAX);
        if (running.isPresent()) {
          return migrated(Optional.empty(), running.get(), observer);
        }
      } catch (UnusableDatabase | DatabaseUnavailable failed) {
        throw new StartFailed(failed);
      }
    }
    return open(config, observer);
  }

  /** From now on the caller closes this at the exit of the process. */
  void callerClosesAtExit() {
    embedded.ifPresent(EmbeddedDatabase::callerClosesAtExit);
  }

  /** For more pools on the same database. */
  public DatabaseSettings settings() {
    return settings;
  }

  public Database database() {
    return database;
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

  private static OpenDatabase migrated(
      Optional<EmbeddedDatabase> embedded, DatabaseSettings unbounded, Observer observer)
      throws UnusableDatabase {
    Database database = null;
    try {
      unbounded.requireReachable();
      DatabaseSettings settings = unbounded.boundedIfPossible();
      database = Database.open(settings, "hot", observer);
      SchemaMigration.run(database, settings);
      ServerCheck.missingBounds(database)
          .ifPresent(remedy -> observer.observe(new Event.StatementsUnbounded(remedy)));
      return new OpenDatabase(embedded, settings, database);
    } catch (UnusableDatabase | DatabaseUnavailable failed) {
      if (database != null) {
        database.close();
      }
      throw failed;
    }
  }
}
