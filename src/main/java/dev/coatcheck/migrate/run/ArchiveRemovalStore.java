package dev.coatcheck.migrate.run;

import dev.coatcheck.core.observe.RootCause;
import dev.coatcheck.migrate.run.ArchiveRemoval.Outcome;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.function.Consumer;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/** All SQL of dropping an archive, and with the last archive our schema. */
final class ArchiveRemovalStore {
  private static final String BOUND = "select pg_catalog.set_config('lock_timeout', '2s', true)";

  private static final String HAS_SCHEMA =
      "select pg_catalog.to_regnamespace('<schema>') is not null";

  private static final String HAS_CHECKPOINTS =
      "select pg_catalog.to_regclass('<schema>.checkpoint') is not null";

  private static final String HAS_NAMES =
      "select pg_catalog.to_regclass('<schema>.known_table') is not null";

  /** Asked in the source itself: the triggers read and write the archive. */
  private static final String IS_IN_USE =
      """
      select pg_catalog.to_regclass(<'outbox_a'>) is not null
             or pg_catalog.to_regprocedure(<'mint'> || '()') is not null\
      """;

  /**
   * Leaves out the tables in which runs keep their own records; of these only checkpoints show that
   * a run is on a table.
   */
  private static final String IS_EMPTY =
      """
      select not exists (select from pg_catalog.pg_class
                          where relnamespace = '<schema>'::pg_catalog.regnamespace
                            and relkind not in ('i', 'I', 't')
                            and relname not in ('checkpoint', 'known_table', 'set_aside', 'unbound_foreign_key'))
             and not exists (select from pg_catalog.pg_proc
                              where pronamespace = '<schema>'::pg_catalog.regnamespace)\
      """;

  private final Database source;
  private final TargetSql names;

  ArchiveRemovalStore(Database source, Target target) {
    this.source = source;
    this.names = new TargetSql(target);
  }

  /**
   * @param beforeCommit is told what will be gone
   */
  Outcome drop(Consumer<String> beforeCommit) {
    try {
      return source.write(
          "forget table migration",
          sql -> {
            Outcome outcome = drop(sql);
            if (outcome instanceof Outcome.Dropped(String what)) {
              beforeCommit.accept(what);
            }
            return outcome;
          });
    } catch (DataAccessException refused) {
      if (SqlState.isDependedOn(refused)) {
        return new Outcome.Needed(
            "Objects in the source depend on the archive or the schema: "
                + RootCause.words(refused).replaceFirst(" Hint: .*", "."));
      }
      throw refused;
    }
  }

  private Outcome drop(DSLContext sql) {
    if (!isTrue(sql, HAS_SCHEMA)) {
      return new Outcome.Dropped("The source has no objects of this run.");
    }
    execute(sql, BOUND);
    boolean hasCheckpoints = isTrue(sql, HAS_CHECKPOINTS);
    if (hasCheckpoints) {
      // A run that begins meanwhile writes its row last, and would wait here.
      execute(sql, "lock table <schema>.checkpoint in share row exclusive mode");
    }
    if (isTrue(sql, IS_IN_USE)) {
      return new Outcome.Needed(
          "The outbox or the number source of a run on this table is still in the source: undo that"
              + " run from expand on first, or retire it if it is contracted.");
    }
    execute(sql, "drop table if exists <archive>");
    if (hasCheckpoints) {
      execute(sql, "delete from <schema>.checkpoint where run = <run>");
    }
    if (isTrue(sql, HAS_NAMES)) {
      execute(
          sql,
          "delete from <schema>.known_table"
              + " where first_schema = <'first_schema'> and first_name = <'first_name'>");
    }
    if (!isTrue(sql, IS_EMPTY)
        || (hasCheckpoints && isTrue(sql, "select exists (select from <schema>.checkpoint)"))) {
      return new Outcome.Dropped("The archive of the table; other tables still need the schema.");
    }
    execute(
        sql,
        "drop table if exists <schema>.checkpoint, <schema>.known_table, <schema>.set_aside,"
            + " <schema>.unbound_foreign_key");
    execute(sql, "drop schema <schema>");
    return new Outcome.Dropped("The archive of the table, and the schema.");
  }

  private boolean isTrue(DSLContext sql, String query) {
    return PlainSql.isTrue(sql, names.fill(query));
  }

  private void execute(DSLContext sql, String statement) {
    PlainSql.execute(sql, names.fill(statement));
  }
}
