package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.source.ObjectsGone;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.ArrayList;
import java.util.List;

/**
 * The objects that the first two steps of a run create in the source: reports missing ones, and
 * replaces them with empty ones for an undo.
 */
public final class OwnObjectsTable {
  private static final String HAS_TABLE =
      "select exists (select from pg_catalog.pg_class where oid = <oid>::oid)";

  private static final String HAS_ARCHIVING =
      "select pg_catalog.to_regprocedure(<'on_archived'> || '()') is not null";

  private static final String IS_ARCHIVING =
      """
      select exists (select from pg_catalog.pg_trigger
                      where tgrelid = <oid>::oid and pg_catalog.quote_ident(tgname) = <'t_archived'>
                        and tgenabled = 'A')\
      """;

  private static final SqlTemplate MISSING =
      SqlTemplate.file(OwnObjectsTable.class, "own-objects.sql");

  private static final String HAS_COLUMN =
      """
      select exists (select from pg_catalog.pg_attribute where attrelid = <oid>::oid
                        and attname = <'key'> and not attisdropped)\
      """;

  private static final String TRIGGERS =
      "select tgname::text from pg_catalog.pg_trigger where tgrelid = <oid>::oid";

  /** An undo that has lost the checkpoint creates one whose T0 is 0. */
  private static final String HAS_CHECKPOINT =
      "select exists (select from <schema>.checkpoint where run = <run> and t0_ms > 0)";

  private static final SqlTemplate LOST_CHECKPOINT =
      SqlTemplate.file(OwnObjectsTable.class, "lost-checkpoint.sql");

  private final Session session;
  private final TargetSql names;

  public OwnObjectsTable(SourceSession session, Target target) {
    this.session = session.session();
    this.names = new TargetSql(target);
  }

  /** The progress of the run, which determines the objects that have to exist. */
  public enum Extent {
    /** Nothing was created yet. */
    NONE,
    /** The objects that are not on the table itself. */
    PREPARED,
    /** The column, the triggers and the checkpoint too. */
    ON_TABLE
  }

  /**
   * Checks that all of them exist.
   *
   * @throws ObjectsGone with the names of missing objects
   */
  public void require(Extent extent) {
    List<String> missing = missing(extent);
    if (!missing.isEmpty()) {
      throw new ObjectsGone(missing);
    }
  }

  public boolean hasTable() {
    return session.transaction("objects", sql -> PlainSql.isTrue(sql, names.fill(HAS_TABLE)));
  }

  /** Whether the objects that archive new rows during an undo exist. */
  public boolean canArchiveNewRows() {
    return session.transaction("objects", sql -> PlainSql.isTrue(sql, names.fill(HAS_ARCHIVING)));
  }

  /** Whether the trigger that archives new rows is on the table, and always fires. */
  public boolean isArchivingNewRows() {
    return session.transaction("objects", sql -> PlainSql.isTrue(sql, names.fill(IS_ARCHIVING)));
  }

  private List<String> missing(Extent extent) {
    if (extent == Extent.NONE) {
      return List.of();
    }
    boolean onTable = extent == Extent.ON_TABLE;
    return session.transaction(
        "objects",
        sql -> {
          if (onTable && !PlainSql.isTrue(sql, names.fill(HAS_TABLE))) {
            return List.of("the table itself");
          }
          List<String> missing =
              new ArrayList<>(PlainSql.rows(sql, names.fill(MISSING), row -> row.getString(1)));
          boolean hasSchema = missing.stream().noneMatch(what -> what.startsWith("the schema "));
          if (!hasSchema) {
            missing.subList(1, missing.size()).clear();
          }
          if (!onTable) {
            return missing;
          }
          boolean hasCheckpoints =
              hasSchema && missing.stream().noneMatch(what -> what.endsWith(".checkpoint"));
          if (hasCheckpoints && !PlainSql.isTrue(sql, names.fill(HAS_CHECKPOINT))) {
            missing.add(names.fill("the row of this run in <schema>.checkpoint"));
          }
          if (!PlainSql.isTrue(sql, names.fill(HAS_COLUMN))) {
            missing.add("the column " + Target.NEW_COLUMN + " of the table");
          }
          List<String> triggers = PlainSql.rows(sql, names.fill(TRIGGERS), row -> row.getString(1));
          TargetSql.TRIGGERS.stream()
              .filter(event -> !triggers.contains(TargetSql.TRIGGER_START + event))
              .forEach(event -> missing.add("the trigger " + names.fill("<t_" + event + ">")));
          return missing;
        });
  }

  /**
   * Creates empty objects where the statements of an undo expect them, so that the undo can remove
   * the rest. A backfill can't continue with them, and reports that.
   */
  public void mend(Extent extent) {
    if (missing(extent).isEmpty()) {
      return;
    }
    boolean onTable = extent == Extent.ON_TABLE && hasTable();
    session.transaction(
        "mend",
        sql -> {
          PlainSql.execute(sql, SourceSession.BOUND_LOCKS);
          List<String> statements = new ArrayList<>(Steps.mending());
          if (onTable) {
            statements.add("alter table <table> add column if not exists <key> bigint");
            statements.addAll(LOST_CHECKPOINT.statements());
          }
          statements.forEach(statement -> PlainSql.execute(sql, names.fill(statement)));
          return true;
        });
  }
}
