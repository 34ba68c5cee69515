package dev.coatcheck.migrate.table;

import static dev.coatcheck.migrate.table.Steps.file;

import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jooq.DSLContext;

/**
 * Deletes what a run keeps in a source of rows whose public IDs were erased: entries of the archive
 * and of the outbox, and rows set aside. The rows themselves are the customer's.
 */
public final class ErasedRowsTable {
  private static final SqlTemplate ARCHIVED = file("erase-archived.sql");
  private static final SqlTemplate ARCHIVED_KEYS = file("erase-archived-keys.sql");
  private static final SqlTemplate OUTBOX = file("erase-outbox.sql");
  private static final SqlTemplate SET_ASIDE = file("erase-set-aside.sql");

  private static final String BOUND = "select set_config('lock_timeout', '5s', true)";

  private final Session session;
  private final TargetSql names;

  public ErasedRowsTable(Session session, Target target) {
    this.session = session;
    this.names = new TargetSql(target);
  }

  /**
   * A row whose public ID was erased.
   *
   * @param legacyIds that its public ID had; empty if none is known
   */
  public record ErasedRow(long key, List<Long> legacyIds) {
    public ErasedRow {
      legacyIds = List.copyOf(legacyIds);
    }
  }

  /** Returns after the commit. What is not there, or no longer, counts as deleted. */
  public void delete(List<ErasedRow> rows) {
    Long[] keys = rows.stream().map(ErasedRow::key).toArray(Long[]::new);
    Long[] legacyIds = rows.stream().flatMap(row -> row.legacyIds().stream()).toArray(Long[]::new);
    boolean _ =
        session.longTransaction(
            "erase",
            sql -> {
              PlainSql.rows(sql, BOUND, row -> row.getString(1));
              for (String outbox : List.of("outbox_a", "outbox_b")) {
                if (isThere(sql, "<'" + outbox + "'>")) {
                  execute(sql, OUTBOX.with("outbox", "<" + outbox + ">"), (Object) keys);
                }
              }
              if (isThere(sql, "<'archive'>")) {
                deleteArchived(sql, rows);
              }
              if (isThere(sql, "'<schema>.set_aside'")) {
                execute(sql, SET_ASIDE, keys, legacyIds);
              }
              return true;
            });
  }

  private void deleteArchived(DSLContext sql, List<ErasedRow> rows) {
    List<Long> legacyIds = new ArrayList<>();
    List<Long> keys = new ArrayList<>();
    for (ErasedRow row : rows) {
      for (long legacyId : row.legacyIds()) {
        legacyIds.add(legacyId);
        keys.add(row.key());
      }
    }
    Set<Long> deleted =
        new HashSet<>(
            PlainSql.rows(
                sql,
                names.fill(ARCHIVED),
                row -> row.getLong(1),
                legacyIds.toArray(Long[]::new),
                keys.toArray(Long[]::new)));
    Long[] others =
        rows.stream()
            .map(ErasedRow::key)
            .filter(key -> !deleted.contains(key))
            .toArray(Long[]::new);
    if (others.length > 0) {
      execute(sql, ARCHIVED_KEYS, (Object) others);
    }
  }

  private boolean isThere(DSLContext sql, String relation) {
    return PlainSql.isTrue(
        sql, names.fill("select to_regclass(%s) is not null".formatted(relation)));
  }

  private void execute(DSLContext sql, SqlTemplate template, Object... values) {
    PlainSql.execute(sql, names.fill(template), values);
  }
}
