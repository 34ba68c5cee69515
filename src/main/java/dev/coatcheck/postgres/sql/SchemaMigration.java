package dev.coatcheck.postgres.sql;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.exception.FlywayValidateException;
import org.jooq.DSLContext;

/**
 * Brings the gateway's own schema, {@code coatcheck}, up to date, under Flyway's lock; or checks,
 * as a role that may only use it, that somebody has done so.
 */
public final class SchemaMigration {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final int NAMED_MAX = 3;

  private static final String UNRELEASED =
      "The schema \"coatcheck\" was made by a development version that was never released, and"
          + " can't be upgraded. Drop it with \"drop schema coatcheck cascade\", which deletes all"
          + " its public IDs, or use another database or home.";

  private SchemaMigration() {}

  /**
   * Checks that this Postgres keeps what it acknowledges, then applies what is missing.
   *
   * @param settings to log in with beside the pool: a migration takes as long as it needs
   * @return the migrations that were applied, each as {@code 008 audit}
   * @throws UnusableDatabase if it is too old, a standby, allowed to lose commits, or has a schema
   *     by other migrations
   */
  public static List<String> run(Database database, DatabaseSettings settings)
      throws UnusableDatabase {
    requireUsable(
        database,
        sql ->
            Stream.concat(
                    ServerCheck.faults(sql).stream(), ServerCheck.migrationFault(sql).stream())
                .toList());
    try {
      return flyway(settings).migrate().migrations.stream()
          .map(applied -> applied.version + " " + applied.description)
          .toList();
    } catch (FlywayValidateException unreleased) {
      throw new UnusableDatabase(UNRELEASED);
    } catch (FlywayException failed) {
      throw new UnusableDatabase(
          "The schema \"coatcheck\" could not be brought up to date: " + failed.getMessage());
    }
  }

  /**
   * Checks the same, and that the schema is there and in order for this program and its role.
   * Changes nothing.
   *
   * @return what to report of a schema that a later release made, beside which this program works
   * @throws UnusableDatabase if a migration or a right is missing
   */
  public static Optional<Event.SchemaNewer> check(Database database, DatabaseSettings settings)
      throws UnusableDatabase {
    requireUsable(database, ServerCheck::faults);
    if (Boolean.TRUE.equals(
        database.read(
            "schema", sql -> sql.fetchValue("select to_regnamespace('coatcheck') is null")))) {
      throw new UnusableDatabase(
          "The database has no schema \"coatcheck\" yet, and this start applies no migrations. Run"
              + " coatcheck database migrate as the role that shall own the schema.");
    }
    List<String> missing = database.read("rights", Grants::missing);
    MigrationInfo[] all;
    try {
      all = flyway(settings).info().all();
    } catch (FlywayException failed) {
      requireNone(missing, settings);
      throw new UnusableDatabase(
          "The version of the schema \"coatcheck\" could not be read: " + failed.getMessage());
    }
    requireReleased(all);
    requireApplied(all);
    requireNone(missing, settings);
    return newer(all);
  }

  private static void requireReleased(MigrationInfo... all) throws UnusableDatabase {
    if (Arrays.stream(all).anyMatch(one -> one.isApplied() && !one.isChecksumMatching())) {
      throw new UnusableDatabase(UNRELEASED);
    }
  }

  private static void requireApplied(MigrationInfo... all) throws UnusableDatabase {
    String pending =
        Arrays.stream(all)
            .filter(one -> !one.isApplied())
            .map(one -> one.getVersion() + " " + one.getDescription())
            .collect(Collectors.joining(", "));
    if (!pending.isEmpty()) {
      throw new UnusableDatabase(
          "The schema \"coatcheck\" is older than this program, and this start applies no"
              + " migrations. Run coatcheck database migrate as its owner; missing: "
              + pending
              + ".");
    }
  }

  private static void requireNone(List<String> missing, DatabaseSettings settings)
      throws UnusableDatabase {
    if (!missing.isEmpty()) {
      throw new UnusableDatabase(
          "The role "
              + settings.user()
              + " lacks "
              + missing.stream().limit(NAMED_MAX).collect(Collectors.joining(", "))
              + (missing.size() > NAMED_MAX ? " and " + (missing.size() - NAMED_MAX) + " more" : "")
              + ". Let the owner of the schema run what coatcheck database grants --to "
              + settings.user()
              + " prints.");
    }
  }

  private static Optional<Event.SchemaNewer> newer(MigrationInfo... all) {
    List<MigrationInfo> known = new ArrayList<>();
    List<MigrationInfo> future = new ArrayList<>();
    for (MigrationInfo one : all) {
      (one.getState().isResolved() ? known : future).add(one);
    }
    return future.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Event.SchemaNewer(
                String.valueOf(future.getLast().getVersion()),
                String.valueOf(known.getLast().getVersion())));
  }

  static Flyway flyway(DatabaseSettings settings) {
    return Flyway.configure()
        .dataSource(new PinnedSource(settings))
        .defaultSchema("coatcheck")
        .locations("classpath:db/migration")
        .load();
  }

  /** On a busy machine the first connection takes longer than a request may wait for it. */
  private static void requireUsable(Database database, Function<DSLContext, List<String>> check)
      throws UnusableDatabase {
    List<String> faults = patiently(database, check);
    if (!faults.isEmpty()) {
      throw new UnusableDatabase("The database can't be used: " + String.join("; ", faults) + ".");
    }
  }

  private static List<String> patiently(
      Database database, Function<DSLContext, List<String>> check) {
    long begun = System.nanoTime();
    while (true) {
      try {
        return database.read("server check", check);
      } catch (DatabaseUnavailable late) {
        if (System.nanoTime() - begun > PATIENCE_NANOS) {
          throw late;
        }
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }
}
