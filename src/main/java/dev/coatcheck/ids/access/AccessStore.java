package dev.coatcheck.ids.access;

import static dev.coatcheck.postgres.sql.schema.Tables.API_KEY;
import static dev.coatcheck.postgres.sql.schema.Tables.API_KEY_USE;
import static java.util.Objects.requireNonNull;
import static org.jooq.impl.DSL.any;
import static org.jooq.impl.DSL.condition;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.noCondition;
import static org.jooq.impl.DSL.row;
import static org.jooq.impl.DSL.select;
import static org.jooq.impl.DSL.table;
import static org.jooq.impl.DSL.val;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.schema.tables.records.ApiKeyRecord;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.SelectJoinStep;

/** All SQL about API keys that changes none, and the transactions that do. */
final class AccessStore {
  /** Most keys have the same few rights. */
  private static final int SHARED_MAX = 1_000;

  private static final Field<String> ASKED = field("wanted.asked", String.class);

  /** Until the key ends, negative if it has ended; null if it never does. */
  private static final Field<Long> MICROS_LEFT =
      field(
          "(extract(epoch from least({0}, {1}) - now()) * 1000000)::bigint",
          Long.class, API_KEY.REVOKED_AT, API_KEY.EXPIRES_AT);

  /** What a request needs of a key. The keys in use are read every 25 s. */
  private static final List<Field<?>> NEEDED =
      List.of(
          API_KEY.KEY_ID,
          API_KEY.CHAIN,
          API_KEY.SECRET_HASH,
          API_KEY.PRINCIPAL,
          API_KEY.SCOPES,
          API_KEY.TYPES,
          API_KEY.RANGES,
          API_KEY.LIMIT_REQUESTS,
          API_KEY.LIMIT_SECONDS,
          API_KEY.LEASE_MAX,
          API_KEY.EXPIRES_AT);

  private static final Field<Instant> NOW = field("now()", API_KEY.CREATED_AT.getDataType());

  /** Once a minute for each key, however many instances were asked with it. */
  private static final String USE =
      """
      insert into coatcheck.api_key_use (key_id, last_used_at)
      select used.key_id, date_trunc('minute', now()) from unnest({0}) as used (key_id)
      order by used.key_id
      on conflict (key_id) do update set last_used_at = excluded.last_used_at
      where api_key_use.last_used_at < excluded.last_used_at
      """;

  private final Database database;
  private final Cache<Rights, Rights> shared =
      Caffeine.newBuilder().maximumSize(SHARED_MAX).executor(Runnable::run).build();

  AccessStore(Database database) {
    this.database = database;
  }

  /** Runs a change in a transaction in which no other one changes keys. */
  <T> T changing(String operation, Function<ApiKeyTable, T> work) {
    return database.write(operation, sql -> work.apply(ApiKeyTable.locked(sql)));
  }

  /**
   * Runs a change of those keys that exist, if there are any.
   *
   * @param work gets the IDs of the keys, and returns those of the changed ones
   */
  List<String> changingIfAny(
      List<ApiKey> keys, BiFunction<ApiKeyTable, List<String>, List<String>> work) {
    // Anybody can make other texts with the ID of a key, which must not hide the right one.
    Map<String, List<KeyHash>> hashes =
        keys.stream()
            .collect(
                Collectors.groupingBy(
                    ApiKey::id, Collectors.mapping(ApiKey::hash, Collectors.toList())));
    return database.write(
        "leaked API keys",
        sql -> {
          List<String> known =
              sql
                  .select(API_KEY.KEY_ID, API_KEY.SECRET_HASH)
                  .from(API_KEY)
                  .where(API_KEY.KEY_ID.eq(any(hashes.keySet().toArray(String[]::new))))
                  .fetch()
                  .stream()
                  .filter(
                      row ->
                          requireNonNull(hashes.get(row.value1())).stream()
                              .anyMatch(KeyHash.of(row.value2())::matches))
                  .map(row -> row.value1())
                  .toList();
          return known.isEmpty() ? List.of() : work.apply(ApiKeyTable.locked(sql), known);
        });
  }

  /** The keys with these IDs that exist, by ID. */
  Map<String, KnownKey> find(List<String> keyIds, LongSupplier nanoTime) {
    long sentNano = nanoTime.getAsLong();
    return database.read(
        "API key read",
        sql -> {
          // Returns the question with each answer, and also if no row is found.
          var rows =
              sql.select(ASKED, MICROS_LEFT)
                  .select(NEEDED)
                  .from(table("unnest({0}) as wanted (asked)", val(keyIds.toArray(String[]::new))))
                  .leftJoin(API_KEY)
                  .on(API_KEY.KEY_ID.eq(ASKED))
                  .fetch();
          Set<String> asked = rows.stream().map(row -> row.get(ASKED)).collect(Collectors.toSet());
          ConnectionDesync.unless(
              rows.size() == keyIds.size() && asked.equals(Set.copyOf(keyIds)), "other API keys");
          return rows.stream()
              .filter(row -> row.get(API_KEY.KEY_ID) != null)
              .map(
                  row ->
                      known(row.into(API_KEY), Optional.ofNullable(row.get(MICROS_LEFT)), sentNano))
              .collect(Collectors.toMap(KnownKey::keyId, key -> key));
        });
  }

  private KnownKey known(ApiKeyRecord row, Optional<Long> microsLeft, long sentNano) {
    Rights rights = shared.get(ApiKeyTable.rights(row), same -> same);
    Optional<Duration> left = microsLeft.map(micros -> Duration.of(micros, ChronoUnit.MICROS));
    String keyId = row.getKeyId();
    String chain = Optional.ofNullable(row.getChain()).orElse(keyId);
    return new KnownKey(
        new Caller(keyId, chain, row.getPrincipal(), rights),
        KeyHash.of(row.getSecretHash()),
        left,
        sentNano);
  }

  Optional<ApiKeys.Listed> listed(String keyId) {
    return database.read(
        "API key read",
        sql -> withUses(sql).where(API_KEY.KEY_ID.eq(keyId)).fetchOptional(AccessStore::listed));
  }

  List<ApiKeys.Listed> list(ApiKeys.Filter filter) {
    Condition condition =
        filter
            .principal()
            .map(API_KEY.PRINCIPAL::eq)
            .orElse(noCondition())
            .and(
                filter
                    .types()
                    .names()
                    .map(
                        names ->
                            condition(
                                "{0} <@ {1}",
                                API_KEY.TYPES, val(names.toArray(String[]::new), API_KEY.TYPES)))
                    .orElse(noCondition()))
            .and(filter.status().map(AccessStore::has).orElse(noCondition()))
            .and(
                filter
                    .after()
                    .map(
                        keyId ->
                            row(API_KEY.CREATED_AT, API_KEY.KEY_ID)
                                .gt(
                                    select(API_KEY.CREATED_AT, API_KEY.KEY_ID)
                                        .from(API_KEY)
                                        .where(API_KEY.KEY_ID.eq(keyId))))
                    .orElse(noCondition()));
    return database.read(
        "API key list",
        sql ->
            withUses(sql)
                .where(condition)
                .orderBy(API_KEY.CREATED_AT, API_KEY.KEY_ID)
                .limit(filter.limit() + 1)
                .fetch(AccessStore::listed));
  }

  Instant now() {
    return database.read("clock", sql -> requireNonNull(sql.select(NOW).fetchSingle().value1()));
  }

  List<StoredKey> liveNamed(String name) {
    return database.read(
        "API keys of a name",
        sql ->
            sql.selectFrom(API_KEY)
                .where(API_KEY.NAME.eq(name), has(StoredKey.Status.ACTIVE))
                .orderBy(API_KEY.CREATED_AT, API_KEY.KEY_ID)
                .fetch(ApiKeyTable::storedKey));
  }

  private static SelectJoinStep<Record> withUses(DSLContext sql) {
    return sql.select(API_KEY.fields())
        .select(NOW)
        .select(API_KEY_USE.LAST_USED_AT)
        .from(API_KEY)
        .leftJoin(API_KEY_USE)
        .on(API_KEY_USE.KEY_ID.eq(API_KEY.KEY_ID));
  }

  private static Condition has(StoredKey.Status status) {
    Condition isLasting = API_KEY.EXPIRES_AT.isNull().or(API_KEY.EXPIRES_AT.gt(NOW));
    return switch (status) {
      case ACTIVE -> API_KEY.REVOKED_AT.isNull().and(isLasting);
      case EXPIRED -> API_KEY.REVOKED_AT.isNull().and(API_KEY.EXPIRES_AT.le(NOW));
      case REVOKED -> API_KEY.REVOKED_AT.isNotNull();
    };
  }

  private static ApiKeys.Listed listed(Record row) {
    StoredKey key = ApiKeyTable.storedKey(row.into(API_KEY));
    return new ApiKeys.Listed(
        key, key.status(row.get(NOW)), Optional.ofNullable(row.get(API_KEY_USE.LAST_USED_AT)));
  }

  /** Notes that keys were used in this minute. */
  void use(List<String> keyIds) {
    database.writeAlone(
        "API key use", sql -> sql.query(USE, val(keyIds.toArray(String[]::new))).execute());
  }
}
