package dev.coatcheck.ids.idempotency;

import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.postgres.sql.Unnest;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jooq.DSLContext;

/** The table of answers, for use inside the transaction that does the work. */
public final class IdempotencyTable {
  /** How long an answer is kept. */
  public static final Duration KEPT = Duration.ofHours(24);

  private IdempotencyTable() {}

  /** What an earlier request with the key got. */
  public record Past(String requestHash, Recorded answer) {}

  /** A finished call that is to be remembered. */
  public record Entry(IdempotencyKey key, String requestHash, Recorded answer) {}

  /**
   * The answers of those keys that have one which hasn't expired. Each is looked for along the
   * index of keys; the expiry is judged outside, or stale statistics make Postgres read the index
   * by expiry instead, from end to end for every key.
   */
  public static Map<IdempotencyKey, Past> find(DSLContext sql, Collection<IdempotencyKey> keys) {
    Map<IdempotencyKey, Past> found = new HashMap<>();
    if (keys.isEmpty()) {
      return found;
    }
    List<IdempotencyKey> wanted = List.copyOf(keys);
    sql.resultQuery(
            """
            select found.owner, found.key, found.request_hash, found.status, found.response
              from unnest({1}, {2}, {3}) as wanted (bucket, owner, key)
             cross join lateral (
               select * from {0}
                where bucket = wanted.bucket and owner = wanted.owner and key = wanted.key
                limit 1) as found
             where found.expires_at > now()
            """,
            IDEMPOTENCY,
            Unnest.shorts(wanted, IdempotencyKey::bucket),
            Unnest.texts(wanted, IdempotencyKey::owner),
            Unnest.texts(wanted, IdempotencyKey::text))
        .coerce(
            IDEMPOTENCY.OWNER,
            IDEMPOTENCY.KEY,
            IDEMPOTENCY.REQUEST_HASH,
            IDEMPOTENCY.STATUS,
            IDEMPOTENCY.RESPONSE)
        .forEach(
            row ->
                found.put(
                    new IdempotencyKey(row.value1(), row.value2()),
                    new Past(
                        HexFormat.of().formatHex(row.value3()),
                        new Recorded(row.value4(), row.value5()))));
    return found;
  }

  /**
   * Keeps the answers; an expired one gives way.
   *
   * @return false if another transaction was first with one of the keys: roll back and begin anew
   */
  public static boolean keep(DSLContext sql, List<Entry> entries) {
    if (entries.isEmpty()) {
      return true;
    }
    List<Entry> rows =
        entries.stream()
            .sorted(
                Comparator.<Entry>comparingInt(entry -> entry.key().bucket())
                    .thenComparing(entry -> entry.key().owner())
                    .thenComparing(entry -> entry.key().text()))
            .toList();
    int kept =
        sql.execute(
            """
            insert into {0} as mine (bucket, owner, key, request_hash, status, response, expires_at)
            select *, now() + make_interval(secs => {7})
              from unnest({1}, {2}, {3}, {4}, {5}, {6})
            on conflict on constraint idempotency_key_is_unique do update
              set request_hash = excluded.request_hash, status = excluded.status,
                  response = excluded.response, expires_at = excluded.expires_at
              where mine.expires_at <= now()
            """,
            IDEMPOTENCY,
            Unnest.shorts(rows, entry -> entry.key().bucket()),
            Unnest.texts(rows, entry -> entry.key().owner()),
            Unnest.texts(rows, entry -> entry.key().text()),
            Unnest.column(
                rows, entry -> HexFormat.of().parseHex(entry.requestHash()), byte[][]::new),
            Unnest.integers(rows, entry -> entry.answer().status()),
            Unnest.texts(rows, entry -> entry.answer().body()),
            val((double) KEPT.toSeconds()));
    return kept == rows.size();
  }
}
