package dev.coatcheck.cluster.audit;

import static dev.coatcheck.postgres.sql.schema.Tables.AUDIT_ENTRY;
import static dev.coatcheck.postgres.sql.schema.Tables.CHANGE_HEAD;
import static org.jooq.impl.DSL.coalesce;
import static org.jooq.impl.DSL.condition;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.noCondition;
import static org.jooq.impl.DSL.select;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.schema.tables.records.AuditEntryRecord;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jooq.Condition;
import org.jooq.Field;

/** All SQL that reads the audit. */
final class AuditStore {
  private static final String OPERATION = "audit";

  private final Database database;

  AuditStore(Database database) {
    this.database = database;
  }

  /** The newest entries with a lower number than {@code before}, newest first. */
  List<RecordedEntry> newest(AuditFilter filter, long before, int rowsMax) {
    return database.read(
        OPERATION,
        sql ->
            sql.selectFrom(AUDIT_ENTRY)
                .where(matches(filter).and(AUDIT_ENTRY.NUMBER.lt(before)))
                .orderBy(AUDIT_ENTRY.NUMBER.desc())
                .limit(rowsMax)
                .fetch(AuditStore::entry));
  }

  /** The oldest entries above the number {@code after}, up to {@code last}, oldest first. */
  List<RecordedEntry> oldest(AuditFilter filter, long after, long last, int rowsMax) {
    return database.read(
        OPERATION,
        sql ->
            sql.selectFrom(AUDIT_ENTRY)
                .where(
                    matches(filter)
                        .and(AUDIT_ENTRY.NUMBER.gt(after))
                        .and(AUDIT_ENTRY.NUMBER.le(last)))
                .orderBy(AUDIT_ENTRY.NUMBER)
                .limit(rowsMax)
                .fetch(AuditStore::entry));
  }

  /** The number of the last entry; 0 if there is none. */
  long lastNumber() {
    return database.read(
        OPERATION, sql -> sql.select(CHANGE_HEAD.AUDITED).from(CHANGE_HEAD).fetchSingle().value1());
  }

  private static Condition matches(AuditFilter filter) {
    return Stream.of(
            filter.subject().map(AuditStore::isAbout),
            filter.actor().map(actor -> AUDIT_ENTRY.ACTOR.eq(actor)),
            filter.action().map(action -> AUDIT_ENTRY.ACTION.eq(action)),
            filter.from().map(time -> AUDIT_ENTRY.NUMBER.ge(firstSince(time))),
            filter.to().map(time -> AUDIT_ENTRY.NUMBER.lt(firstSince(time))))
        .flatMap(Optional::stream)
        .reduce(noCondition(), Condition::and);
  }

  /**
   * The numbers of a subject come first, as an array: Postgres can't know how rare a subject is,
   * and would else read all entries from the newest on until it has found enough.
   */
  private static Condition isAbout(String subject) {
    return condition(
        "{0} = any (array(select number from {1} where subjects @> array[cast({2} as text)]))",
        AUDIT_ENTRY.NUMBER, AUDIT_ENTRY, val(subject));
  }

  /** Times follow the numbers. So this bounds the part of each index that is read. */
  private static Field<Long> firstSince(Instant time) {
    return coalesce(
        field(
            select(AUDIT_ENTRY.NUMBER)
                .from(AUDIT_ENTRY)
                .where(AUDIT_ENTRY.AT.ge(time))
                .orderBy(AUDIT_ENTRY.AT, AUDIT_ENTRY.NUMBER)
                .limit(1)),
        val(Long.MAX_VALUE));
  }

  private static RecordedEntry entry(AuditEntryRecord row) {
    return new RecordedEntry(
        row.getNumber(),
        row.getAt(),
        new AuditEntry(
            new Actor(
                row.getActor(),
                Optional.ofNullable(row.getKeyId()),
                Optional.ofNullable(row.getAddress()),
                Optional.ofNullable(row.getRequestId())),
            row.getAction(),
            List.of(row.getSubjects()),
            row.getDetail().data()));
  }
}
