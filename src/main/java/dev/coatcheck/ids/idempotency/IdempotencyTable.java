package dev.coatcheck.ids.idempotency;

import static dev.coatcheck.postgres.sql.schema.Tables.IDEMPOTENCY_0;

import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.connection.Shards;
import dev.coatcheck.postgres.group.LostRace;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.ShardedSql;
import dev.coatcheck.postgres.sql.Unnest;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jooq.QueryPart;
import org.jooq.Table;

/** The stored responses, for use inside the transaction that does the work, after {@link #lock}. */
public final class IdempotencyTable {
  private static final String LOCK =
      """
      select hash, pg_try_advisory_xact_lock(hash), turn.part, turn.bound
        from (select part, set_config('lock_timeout', ?::text, true)
                from coatcheck.idempotency_turn) as turn (part, bound)
        left join unnest(?::bigint[]) as hash on true\
      """;

  private IdempotencyTable() {}

  /** The response to an earlier request with the Idempotency-Key. */
  public record Past(String requestHash, StoredResponse answer) {
    private Past without(Set<String> erased) {
      return new Past(
          requestHash, new StoredResponse(answer.status(), answer.body(), erased, false));
    }

    /**
     * What comes of a call with the same key: another request with the key is refused, also one
     * that differs only by the types of its caller, for which {@code reused} takes true.
     */
    public <R> R of(
        IdempotentCall<?> call, Function<StoredResponse, R> same, Function<Boolean, R> reused) {
      return requestHash.equals(call.requestHash())
          ? same.apply(answer)
          : reused.apply(call.differsByTypes(requestHash));
    }
  }

  /** A finished call whose response is to be stored. */
  public record Entry(IdempotencyKey key, String requestHash, StoredResponse answer) {
    /** Works out the answer of a call. */
    public static <T> Entry of(IdempotentCall<T> call, T outcome) {
      return new Entry(call.key(), call.requestHash(), call.answer().apply(outcome));
    }
  }

  /**
   * Locks on the names that a transaction uses: Idempotency-Keys, supplied keys and aliases. They
   * last until the transaction ends.
   *
   * @param refused the hashes that another transaction holds
   * @param part the current part of the answers
   */
  public record Locks(Set<Long> refused, long part) {
    public Locks {
      refused = Set.copyOf(refused);
    }
  }

  /**
   * Takes the locks without waiting, so that a contended name delays only its own callers. Limits
   * every later wait of the transaction.
   *
   * @param hashes of the names
   * @param lockMillisMax how long to wait for a row that another transaction is about to write
   */
  public static Locks lock(DSLContext sql, Collection<Long> hashes, int lockMillisMax) {
    Set<Long> refused = new HashSet<>();
    List<Long> parts =
        PlainSql.rows(
            sql,
            LOCK,
            row -> {
              long hash = row.getLong(1);
              boolean isTaken = row.getBoolean(2);
              if (!row.wasNull() && !isTaken) {
                refused.add(hash);
              }
              return row.getLong(3);
            },
            lockMillisMax + "ms",
            hashes.toArray(Long[]::new));
    ConnectionDesync.unless(!parts.isEmpty(), "no part of the answers");
    return new Locks(refused, parts.getFirst());
  }

  /**
   * The stored responses of the keys, if they have any.
   *
   * @param part from {@link #lock}
   */
  public static Map<IdempotencyKey, Past> find(
      DSLContext sql, long part, Collection<IdempotencyKey> keys) {
    Map<IdempotencyKey, Past> found = find(sql, PartTable.lookedInto(part), keys);
    found.replaceAll((_, past) -> past.without(ErasedIdTable.in(sql, past.answer().body())));
    return found;
  }

  /**
   * Looks up each key in the index of each table. The limit keeps Postgres from joining whole
   * tables, which it would do with statistics from when a table was empty.
   */
  static Map<IdempotencyKey, Past> find(
      DSLContext sql, List<Table<?>> tables, Collection<IdempotencyKey> keys) {
    Map<IdempotencyKey, Past> found = new HashMap<>();
    if (keys.isEmpty()) {
      return found;
    }
    Map<UUID, IdempotencyKey> wanted = HashMap.newHashMap(keys.size());
    keys.forEach(key -> wanted.put(key.digest(), key));
    Shards.of(sql)
        .split(List.copyOf(wanted.entrySet()), row -> row.getValue().bucket())
        .forEach(rows -> find(sql, tables, rows, wanted, found));
    return found;
  }

  private static void find(
      DSLContext sql,
      List<Table<?>> tables,
      List<Map.Entry<UUID, IdempotencyKey>> rows,
      Map<UUID, IdempotencyKey> wanted,
      Map<IdempotencyKey, Past> found) {
    // Tells Citus and partitioned tables that one shard is meant.
    String ofShard =
        Shards.of(sql).isOneTable() ? "" : " and bucket = any({%d})".formatted(tables.size() + 1);
    String union =
        IntStream.range(0, tables.size())
            .mapToObj(
                table ->
                    "select * from {%d} where digest = wanted.digest and bucket = wanted.bucket"
                            .formatted(table)
                        + ofShard)
            .collect(Collectors.joining(" union all "));
    String text =
        """
        select found.digest, found.request_hash, found.status, found.response
          from unnest({%d}, {%d}) as wanted (digest, bucket)
         cross join lateral (%s limit 1) as found
        """
            .formatted(tables.size(), tables.size() + 1, union);
    sql.resultQuery(
            text,
            Stream.<QueryPart>concat(
                    tables.stream(),
                    Stream.of(
                        Unnest.uuids(rows, Map.Entry::getKey),
                        Unnest.shorts(rows, row -> row.getValue().bucket())))
                .toArray(QueryPart[]::new))
        .coerce(
            IDEMPOTENCY_0.DIGEST,
            IDEMPOTENCY_0.REQUEST_HASH,
            IDEMPOTENCY_0.STATUS,
            IDEMPOTENCY_0.RESPONSE)
        .forEach(
            row -> {
              ConnectionDesync.unless(wanted.containsKey(row.value1()), "answer of another key");
              found.put(
                  wanted.get(row.value1()),
                  new Past(
                      HexFormat.of().formatHex(row.value2()),
                      new StoredResponse(row.value3(), row.value4())));
            });
  }

  /**
   * Stores the responses that are final for 24 to 28 hours.
   *
   * @param part from {@link #lock}
   * @throws LostRace if one of the keys already has a response
   */
  public static void keep(DSLContext sql, long part, List<Entry> entries) {
    List<Entry> rows =
        entries.stream()
            .filter(entry -> entry.answer().isKept())
            .sorted(
                Comparator.<Entry>comparingInt(entry -> entry.key().bucket())
                    .thenComparing(entry -> entry.key().digest()))
            .toList();
    if (rows.isEmpty()) {
      return;
    }
    int kept =
        Shards.of(sql).isOneTable() ? insert(sql, part, rows) : insertOverShards(sql, part, rows);
    if (kept != rows.size()) {
      throw new LostRace("idempotency key");
    }
  }

  private static int insertOverShards(DSLContext sql, long part, List<Entry> rows) {
    return PlainSql.execute(
        sql,
        "insert into coatcheck."
            + PartTable.table(part).getName()
            + " (digest, status, bucket, request_hash, response) "
            + ShardedSql.valuesOf("(?, ?, ?, ?, ?)", rows.size())
            + " on conflict do nothing",
        rows.stream()
            .flatMap(
                entry ->
                    Stream.<Object>of(
                        entry.key().digest(),
                        entry.answer().status(),
                        (short) entry.key().bucket(),
                        HexFormat.of().parseHex(entry.requestHash()),
                        entry.answer().body()))
            .toArray());
  }

  private static int insert(DSLContext sql, long part, List<Entry> rows) {
    return sql.execute(
        """
        insert into {0} (digest, status, bucket, request_hash, response)
        select * from unnest({1}, {2}, {3}, {4}, {5})
        on conflict do nothing
        """,
        PartTable.table(part),
        Unnest.uuids(rows, entry -> entry.key().digest()),
        Unnest.integers(rows, entry -> entry.answer().status()),
        Unnest.shorts(rows, entry -> entry.key().bucket()),
        Unnest.column(rows, entry -> HexFormat.of().parseHex(entry.requestHash()), byte[][]::new),
        Unnest.texts(rows, entry -> entry.answer().body()));
  }
}
