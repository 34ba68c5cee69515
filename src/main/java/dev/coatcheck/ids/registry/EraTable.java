package dev.coatcheck.ids.registry;

import static dev.coatcheck.postgres.sql.schema.Tables.ERA;
import static org.jooq.impl.DSL.currentOffsetDateTime;

import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.postgres.sql.schema.tables.records.EraRecord;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jooq.DSLContext;
import org.jspecify.annotations.Nullable;

/** The eras of sealed types as rows of their table. */
final class EraTable {
  private EraTable() {}

  /** All eras, by the numbers of their types, in the order of their starts. */
  static Map<Integer, List<Sealing.Era>> all(DSLContext sql, SealKeys keys) {
    return sql.selectFrom(ERA)
        .orderBy(ERA.TYPE_ID, ERA.STARTS_AT.asc().nullsFirst())
        .fetchGroups(ERA.TYPE_ID, row -> era(row, keys));
  }

  private static Sealing.Era era(EraRecord row, SealKeys keys) {
    return new Sealing.Era(
        Optional.ofNullable(row.getStartsAt()),
        row.getFingerprint(),
        keys.withFingerprint(row.getFingerprint()),
        Optional.ofNullable(row.getClosedAt()));
  }

  /** Closes an era now. */
  static void close(DSLContext sql, int typeNumber, String fingerprint) {
    sql.update(ERA)
        .set(ERA.CLOSED_AT, currentOffsetDateTime().coerce(ERA.CLOSED_AT))
        .where(ERA.TYPE_ID.eq(typeNumber).and(ERA.FINGERPRINT.eq(fingerprint)))
        .execute();
  }

  /**
   * @param startsAt null for the first one of the type
   */
  static void insert(
      DSLContext sql, int typeNumber, @Nullable Instant startsAt, String fingerprint) {
    sql.insertInto(ERA)
        .set(ERA.TYPE_ID, typeNumber)
        .set(ERA.STARTS_AT, startsAt)
        .set(ERA.FINGERPRINT, fingerprint)
        .execute();
  }
}
