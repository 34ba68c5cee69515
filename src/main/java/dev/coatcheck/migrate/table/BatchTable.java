package dev.coatcheck.migrate.table;

import dev.coatcheck.bulk.load.LegacyKeyWriter;
import dev.coatcheck.bulk.load.LegacyKeyWriter.LegacyKey;
import dev.coatcheck.core.observe.RootCause;
import dev.coatcheck.migrate.source.FenceLost;
import dev.coatcheck.migrate.source.ObjectsGone;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/**
 * The parts of a transaction that gives old rows their keys. One statement computes the keys and
 * only reads. Another one only writes them, because it runs the table's own triggers.
 */
final class BatchTable {
  /** Values: after which ID, up to which, how many. Returns the last locked ID, or null. */
  static final SqlTemplate LOCK = SqlTemplate.file(BatchTable.class, "lock-batch.sql");

  /** Values: after which ID, up to which (twice); the greatest position so far. */
  static final SqlTemplate KEYS = KeyTimes.template("keys.sql");

  /** Calls the function of {@code fill.sql}. Values: the legacy IDs of the rows, and the keys. */
  static final SqlTemplate CALL = SqlTemplate.file(BatchTable.class, "write.sql");

  private static final SqlTemplate ADVANCE = SqlTemplate.file(BatchTable.class, "advance.sql");
  private static final SqlTemplate READ = SqlTemplate.file(BatchTable.class, "checkpoint.sql");
  private static final SqlTemplate OUTBOX = SqlTemplate.file(BatchTable.class, "outbox.sql");

  private static final int LOCK_MILLIS = 250;

  /** A wait for a row ends before the server would search for a deadlock and end the writer. */
  private static final String BOUND =
      """
      select set_config('lock_timeout', least(?, greatest(1, floor(extract(epoch from
               current_setting('deadlock_timeout')::interval) * 500)))::int || 'ms', true),
             set_config('statement_timeout', ?, true), set_config('row_security', 'off', true),
             set_config('jit', 'off', true)\
      """;

  private static final String KEPT_BY_TRIGGER =
      "a trigger of the table kept the row as it was: it returned null, or undid the change";

  private final TargetSql names;
  private final Optional<LegacyKeyWriter> mappings;

  /**
   * @param mappings if they are in the same database as the rows; if empty, the outbox relays them
   */
  BatchTable(Target target, Optional<LegacyKeyWriter> mappings) {
    this.names = new TargetSql(target);
    this.mappings = mappings;
  }

  /**
   * @param isOpen whether the row lacks the key
   * @param isTimeLost whether the creation time is not used
   * @param isBeforeEpoch whether the row is older than the layout's epoch
   */
  record Given(
      long legacy,
      long position,
      boolean isOpen,
      long key,
      boolean isTimeLost,
      boolean isBeforeEpoch) {
    LegacyKey legacyKey() {
      return new LegacyKey(legacy, key);
    }
  }

  /** The table refused to update a row. The transaction has to be rolled back. */
  static final class RowRefused extends DataAccessException {
    private RowRefused(DataAccessException cause) {
      super(String.valueOf(cause.getMessage()), cause);
    }

    private RowRefused() {
      super(KEPT_BY_TRIGGER);
    }

    String reason() {
      return RootCause.words(this);
    }
  }

  void bound(DSLContext sql, int statementMillis) {
    PlainSql.execute(sql, BOUND, LOCK_MILLIS, statementMillis + "ms");
  }

  /**
   * @throws ObjectsGone if the run has no objects on the table
   */
  Checkpoint checkpoint(DSLContext sql) {
    return PlainSql.first(
            sql,
            names.fill(READ),
            row ->
                new Checkpoint(
                    row.getLong(1),
                    row.getLong(2),
                    row.getLong(3),
                    row.getLong(4),
                    new Checkpoint.Counts(
                        row.getLong(5), row.getLong(6), row.getLong(7), row.getLong(8))))
        .orElseThrow(ObjectsGone::checkpoint);
  }

  /** The keys of the rows of a range, in the order of their IDs. */
  List<Given> keys(DSLContext sql, Checkpoint at, long afterId, long uptoId, long afterPosition) {
    List<Given> rows =
        PlainSql.rows(
            sql,
            names.fill(KEYS),
            row ->
                new Given(
                    row.getLong(1),
                    row.getLong(2),
                    row.getBoolean(3),
                    row.getLong(4),
                    row.getBoolean(5),
                    row.getBoolean(6)),
            afterId,
            uptoId,
            uptoId,
            afterPosition);
    if (!rows.isEmpty() && KeyPositions.reaches(rows.getLast().position(), at.t0Millis())) {
      throw new IllegalStateException(
          "the keys of old rows would reach the time of the triggers: position="
              + rows.getLast().position());
    }
    return rows;
  }

  /**
   * Writes keys to their rows, and their mappings.
   *
   * @param careful whether some of the mappings may already exist
   * @throws RowRefused if the table doesn't take all of them
   */
  void update(DSLContext sql, List<LegacyKey> rows, boolean careful) {
    if (rows.isEmpty()) {
      return;
    }
    Long[] ids = rows.stream().map(LegacyKey::legacy).toArray(Long[]::new);
    Long[] keys = rows.stream().map(LegacyKey::key).toArray(Long[]::new);
    if (!written(sql, ids, keys).containsAll(rows)) {
      throw new RowRefused();
    }
    if (mappings.isPresent()) {
      mappings.get().insert(sql, rows, careful);
    } else {
      PlainSql.execute(sql, names.fill(OUTBOX), ids, keys);
    }
  }

  /**
   * Writes keys to those of the rows that have none, with the function of {@code fill.sql}, which
   * runs the table's own triggers as the table's owner, with the application's search path.
   *
   * @param ids in their order
   * @return the changed rows, with their current keys: a trigger may have skipped some rows
   */
  private Set<LegacyKey> written(DSLContext sql, Long[] ids, Long[] keys) {
    try {
      List<LegacyKey> written =
          PlainSql.rows(
              sql,
              names.fill(CALL),
              row -> new LegacyKey(row.getLong(1), row.getLong(2)),
              ids,
              keys);
      PlainSql.pinPath(sql);
      return Set.copyOf(written);
    } catch (DataAccessException refused) {
      throw new RowRefused(refused);
    }
  }

  /**
   * Moves the checkpoint behind rows that got keys.
   *
   * @param done how many rows were filled
   * @throws FenceLost if another runner has taken over
   */
  void advance(
      DSLContext sql, long lastId, long lastPosition, int done, List<Given> given, long fence) {
    long lost = given.stream().filter(Given::isTimeLost).count();
    long early = given.stream().filter(Given::isBeforeEpoch).count();
    if (PlainSql.execute(sql, names.fill(ADVANCE), lastId, lastPosition, done, lost, early, fence)
        != 1) {
      checkpoint(sql); // fails if the row itself is gone
      throw new FenceLost();
    }
  }

  String fill(SqlTemplate template) {
    return names.fill(template);
  }
}
