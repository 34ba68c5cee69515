package dev.coatcheck.ids.access;

import static dev.coatcheck.postgres.sql.schema.Tables.CONSOLE_SESSION;
import static org.jooq.impl.DSL.any;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.inline;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.postgres.sql.Database;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.types.DayToSecond;

/** All SQL about sessions of the console, which age by the clock of Postgres, as API keys do. */
final class ConsoleSessionStore {
  private static final Field<Instant> NOW =
      field("now()", CONSOLE_SESSION.CREATED_AT.getDataType());
  private static final Field<Instant> END =
      field(
          "now() + {0}",
          CONSOLE_SESSION.EXPIRES_AT.getDataType(),
          inline(DayToSecond.valueOf(ConsoleSessions.LIFETIME)));

  private final Database database;

  ConsoleSessionStore(Database database) {
    this.database = database;
  }

  /** Inserts a session, and deletes those that are over and the oldest ones of its key. */
  void insert(byte[] hash, String keyId, Actor by) {
    database.write(
        "console sign-in",
        sql -> {
          deleteOver(sql, keyId);
          sql.insertInto(CONSOLE_SESSION)
              .set(CONSOLE_SESSION.HASH, hash)
              .set(CONSOLE_SESSION.KEY_ID, keyId)
              .set(CONSOLE_SESSION.CREATED_AT, NOW)
              .set(CONSOLE_SESSION.EXPIRES_AT, END)
              .execute();
          AuditTable.append(sql, by, "console.sign_in", ApiKey.shown(keyId), Map.of());
          return hash;
        });
  }

  /** Skips rows that another sign-in is deleting. */
  private static void deleteOver(DSLContext sql, String keyId) {
    sql.deleteFrom(CONSOLE_SESSION)
        .where(
            CONSOLE_SESSION.HASH.in(
                sql.select(CONSOLE_SESSION.HASH)
                    .from(CONSOLE_SESSION)
                    .where(CONSOLE_SESSION.EXPIRES_AT.le(NOW))
                    .forUpdate()
                    .skipLocked()))
        .execute();
    sql.deleteFrom(CONSOLE_SESSION)
        .where(
            CONSOLE_SESSION.HASH.in(
                sql.select(CONSOLE_SESSION.HASH)
                    .from(CONSOLE_SESSION)
                    .where(CONSOLE_SESSION.KEY_ID.eq(keyId))
                    .orderBy(CONSOLE_SESSION.CREATED_AT.desc())
                    .offset(ConsoleSessions.OF_KEY_MAX - 1)
                    .forUpdate()
                    .skipLocked()))
        .execute();
  }

  /** The ID of the API key of a session that is not over. */
  Optional<String> keyId(byte[] hash) {
    return database.read(
        "console session",
        sql ->
            sql.select(CONSOLE_SESSION.KEY_ID)
                .from(CONSOLE_SESSION)
                .where(CONSOLE_SESSION.HASH.eq(hash), CONSOLE_SESSION.EXPIRES_AT.gt(NOW))
                .fetchOptional(CONSOLE_SESSION.KEY_ID));
  }

  /** The IDs of the API keys of the sessions that are not over, by their hashes. */
  Map<ByteBuffer, String> keyIds(List<byte[]> hashes) {
    return database.read(
        "console sessions",
        sql ->
            sql.select(CONSOLE_SESSION.HASH, CONSOLE_SESSION.KEY_ID)
                .from(CONSOLE_SESSION)
                .where(
                    CONSOLE_SESSION.HASH.eq(any(hashes.toArray(byte[][]::new))),
                    CONSOLE_SESSION.EXPIRES_AT.gt(NOW))
                .fetchMap(row -> ByteBuffer.wrap(row.value1()), row -> row.value2()));
  }

  void delete(byte[] hash, String keyId, Actor by) {
    database.write(
        "console sign-out",
        sql -> {
          int deleted =
              sql.deleteFrom(CONSOLE_SESSION).where(CONSOLE_SESSION.HASH.eq(hash)).execute();
          if (deleted == 1) {
            AuditTable.append(sql, by, "console.sign_out", ApiKey.shown(keyId), Map.of());
          }
          return deleted;
        });
  }
}
