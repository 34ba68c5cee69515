package dev.coatcheck.migrate.table;

import static dev.coatcheck.migrate.table.Steps.file;

import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jooq.DSLContext;

/**
 * Deletes what a run keeps in a source of rows whose public IDs were erased: entries of the archive
 * and of the outbox, and rows set aside. The rows themselves are the customer's.
 */
public final class ErasedRowsTable {
  private static final SqlTemplate ARCHIVED = file("erase-archived.sql");
  private static final SqlTemplate KEYS = file("erase-keys.sql");
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
    List<Long> keys = new ArrayList<>();
    List<Long> legacyIds = new ArrayList<>();
    for (ErasedRow row : rows) {
      for (long legacyId : row.legacyIds()) {
        keys.add(row.key());
        legacyIds.add(legacyId);
      }
    }
    transact(
        sql -> {
          for (String outbox : List.of("outbox_a", "outbox_b")) {
            if (isThere(sql, "<'" + outbox + "'>")) {
              execute(sql, KEYS.with("entries", "<" + outbox + ">"), (Object) keys(rows));
            }
          }
          if (isThere(sql, "<'archive'>")) {
            execute(sql, ARCHIVED, array(legacyIds), array(keys));
          }
          if (isThere(sql, "'<schema>.set_aside'")) {
            execute(sql, SET_ASIDE, keys(rows), array(legacyIds));
          }
        });
  }

  /**
   * Deletes the keys of the rows from the archive, also under other legacy IDs. This reads the
   * whole archive, so it is called once, in a transaction that holds no other locks.
   */
  public void deleteArchivedKeys(List<ErasedRow> rows) {
    transact(
        sql -> {
          if (isThere(sql, "<'archive'>")) {
            execute(sql, KEYS.with("entries", "<archive>"), (Object) keys(rows));
          }
        });
  }

  private void transact(Consumer<DSLContext> work) {
    boolean _ =
        session.longTransaction(
            "erase",
            sql -> {
              PlainSql.rows(sql, BOUND, row -> row.getString(1));
              work.accept(sql);
              return true;
            });
  }

  private static Long[] keys(List<ErasedRow> rows) {
    return rows.stream().map(ErasedRow::key).toArray(Long[]::new);
  }

  private static Long[] array(List<Long> numbers) {
    return numbers.toArray(Long[]::new);
  }

  private boolean isThere(DSLContext sql, String relation) {
    return PlainSql.isTrue(
        sql, names.fill("select to_regclass(%s) is not null".formatted(relation)));
  }

  private void execute(DSLContext sql, SqlTemplate template, Object... values) {
    PlainSql.execute(sql, names.fill(template), values);
  }
}
