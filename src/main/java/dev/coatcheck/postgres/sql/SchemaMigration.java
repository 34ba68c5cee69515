package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.exception.FlywayValidateException;

/** Brings the gateway's own schema, {@code coatcheck}, up to date, under Flyway's lock. */
public final class SchemaMigration {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private SchemaMigration() {}

  /**
   * Checks that this Postgres keeps what it acknowledges, then applies what is missing.
   *
   * @param settings to log in with beside the pool: a migration takes as long as it needs
   * @throws UnusableDatabase if it is too old, a standby, allowed to lose commits, or has a schema
   *     by other migrations
   */
  public static void run(Database database, DatabaseSettings settings) throws UnusableDatabase {
    List<String> faults = faults(database);
    if (!faults.isEmpty()) {
      throw new UnusableDatabase("The database can't be used: " + String.join("; ", faults) + ".");
    }
    try {
      Flyway.configure()
          .dataSource(settings.url(), settings.user(), settings.password())
          .defaultSchema("coatcheck")
          .locations("classpath:db/migration")
          .load()
          .migrate();
    } catch (FlywayValidateException unreleased) {
      throw new UnusableDatabase(
          "The schema \"coatcheck\" was made by a development version that was never released, and"
              + " can't be upgraded. Drop it with \"drop schema coatcheck cascade\", which deletes"
              + " all its public IDs, or use another database or home.");
    } catch (FlywayException failed) {
      throw new UnusableDatabase(
          "The schema \"coatcheck\" could not be brought up to date: " + failed.getMessage());
    }
  }

  /** On a busy machine the first connection takes longer than a request may wait for it. */
  private static List<String> faults(Database database) {
    long begun = System.nanoTime();
    while (true) {
      try {
        return database.read("server check", ServerCheck::faults);
      } catch (DatabaseUnavailable late) {
        if (System.nanoTime() - begun > PATIENCE_NANOS) {
          throw late;
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }
}
