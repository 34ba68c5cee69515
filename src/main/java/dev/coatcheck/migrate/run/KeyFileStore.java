package dev.coatcheck.migrate.run;

import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION;

import dev.coatcheck.bulk.load.ImportAudit;
import dev.coatcheck.bulk.load.LegacyKeyWriter;
import dev.coatcheck.bulk.load.LegacyKeyWriter.AlreadyThere;
import dev.coatcheck.bulk.load.LegacyKeyWriter.LegacyKey;
import dev.coatcheck.bulk.rows.RowError;
import dev.coatcheck.bulk.rows.RowFault;
import dev.coatcheck.bulk.rows.RowSummary;
import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mint.KnownRows;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.mint.MintTable;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.run.KeyFileImport.Row;
import dev.coatcheck.migrate.table.KeyPositions;
import dev.coatcheck.postgres.sql.Database;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.jooq.DSLContext;

/**
 * Writes a file's rows chunk by chunk, and keeps with the run how far it came, in the same
 * transaction.
 */
final class KeyFileStore {
  private static final int TRIES_MAX = 5;
  static final long EPOCH_MILLIS = SnowflakeLayout.DEFAULT.epochMillis();

  private final Database gateway;
  private final TableMigration run;
  private final Type type;
  private final LegacyKeyWriter mappings;
  private final ImportAudit audit;
  private boolean isStartAudited;

  KeyFileStore(GatewayMappings gateway, TableMigration run, ImportAudit audit) {
    this.audit = audit;
    this.gateway = gateway.database();
    this.run = run;
    this.type = gateway.type(run.typeNumber());
    this.mappings = gateway.writer(run.typeNumber());
  }

  record Settled(int created, int existing, List<RowError> refused) {}

  long highestId() {
    return run.plan().highestId();
  }

  /** When the run was planned: no key reaches it. */
  long t0Millis() {
    return run.times().createdAt().toEpochMilli() - EPOCH_MILLIS;
  }

  /**
   * Gives rows their keys that have none.
   *
   * @param rows by rising legacy ID
   * @param times of these, where they count
   */
  Settled settle(List<Row> rows, OptionalLong[] times) {
    for (int tried = 1; ; tried++) {
      try {
        Settled settled = gateway.write("file import", sql -> settle(sql, rows, times));
        isStartAudited |= settled.created() > 0;
        return settled;
      } catch (AlreadyThere otherWriter) {
        if (tried == TRIES_MAX) {
          throw otherWriter;
        }
      }
    }
  }

  /** Rows that get no key here, but may have one. */
  Settled strays(List<Row> rows) {
    KnownRows held = gateway.read("file import", sql -> held(sql, rows));
    List<RowError> refused =
        rows.stream()
            .filter(row -> held.of(name(row)) == null)
            .map(
                row ->
                    new RowError(
                        row.line(),
                        held.isErased(name(row))
                            ? RowFault.ID_ERASED
                            : row.legacy() > highestId()
                                ? RowFault.LEGACY_ID_UNPLANNED
                                : RowFault.LEGACY_ID_OUT_OF_ORDER))
            .toList();
    return new Settled(0, rows.size() - refused.size(), refused);
  }

  private Settled settle(DSLContext sql, List<Row> rows, OptionalLong[] times) {
    var mark =
        sql.select(TABLE_MIGRATION.IMPORTED_ID, TABLE_MIGRATION.IMPORTED_POSITION)
            .from(TABLE_MIGRATION)
            .where(TABLE_MIGRATION.MIGRATION_ID.eq(run.id()))
            .forNoKeyUpdate()
            .fetchSingle();
    KnownRows held = held(sql, rows);
    KeyPositions positions =
        new KeyPositions(
            t0Millis(),
            Math.max(
                SnowflakeLayout.DEFAULT.positionAbove(highestId()),
                Objects.requireNonNullElse(mark.value2(), 0L)));
    long lastId = Objects.requireNonNullElse(mark.value1(), 0L);
    List<LegacyKey> made = new ArrayList<>();
    List<RowError> refused = new ArrayList<>();
    int existing = 0;
    long lost = 0;
    long early = 0;
    for (int i = 0; i < rows.size(); i++) {
      Row row = rows.get(i);
      StoredMapping there = held.of(name(row));
      if (there != null) {
        if (there.key() instanceof Key.Bigint(long key)) {
          positions.held(key);
        }
        lastId = Math.max(lastId, row.legacy());
        existing++;
      } else if (held.isErased(name(row))) {
        refused.add(new RowError(row.line(), RowFault.ID_ERASED));
      } else if (row.legacy() <= lastId) {
        refused.add(new RowError(row.line(), RowFault.LEGACY_ID_OUT_OF_ORDER));
      } else {
        made.add(new LegacyKey(row.legacy(), positions.next(times[i])));
        boolean isBeforeEpoch = row.stated().orElse(0) < 0;
        early += isBeforeEpoch ? 1 : 0;
        lost += !isBeforeEpoch && row.stated().isPresent() && times[i].isEmpty() ? 1 : 0;
        lastId = row.legacy();
      }
    }
    refused.addAll(conflicts(mappings.insert(sql, made, true), rows));
    if (existing + made.size() > 0) {
      sql.update(TABLE_MIGRATION)
          .set(TABLE_MIGRATION.IMPORTED_ID, lastId)
          .set(TABLE_MIGRATION.IMPORTED_POSITION, positions.last())
          .set(TABLE_MIGRATION.TIMES_LOST, TABLE_MIGRATION.TIMES_LOST.plus(lost))
          .set(TABLE_MIGRATION.BEFORE_EPOCH, TABLE_MIGRATION.BEFORE_EPOCH.plus(early))
          .where(TABLE_MIGRATION.MIGRATION_ID.eq(run.id()))
          .execute();
    }
    Settled settled = new Settled(rows.size() - existing - refused.size(), existing, refused);
    if (!isStartAudited && settled.created() > 0) {
      AuditTable.append(sql, List.of(audit.start()));
    }
    return settled;
  }

  /** As for an import of another file: a file that changed nothing has no entry. */
  void auditFinish(RowSummary summary, String outcome) {
    if (isStartAudited) {
      boolean _ =
          gateway.write(
              "file import",
              sql -> {
                AuditTable.append(sql, List.of(audit.finish(summary, outcome)));
                return true;
              });
    }
  }

  private static List<RowError> conflicts(List<LegacyKey> refused, List<Row> rows) {
    Set<Long> numbers = refused.stream().map(LegacyKey::legacy).collect(Collectors.toSet());
    return rows.stream()
        .filter(row -> numbers.contains(row.legacy()))
        .map(row -> new RowError(row.line(), RowFault.ALIAS_CONFLICT))
        .toList();
  }

  private Alias name(Row row) {
    return Alias.of(type, AliasScheme.LEGACY, Long.toString(row.legacy()));
  }

  private KnownRows held(DSLContext sql, List<Row> rows) {
    return MintTable.known(
        sql,
        rows.stream()
            .map(row -> new MintRequest(type, Optional.empty(), List.of(name(row))))
            .toList());
  }
}
