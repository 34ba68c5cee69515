package dev.coatcheck.ids.access;

import static dev.coatcheck.postgres.sql.schema.Tables.API_KEY;
import static dev.coatcheck.postgres.sql.schema.Tables.TYPE;
import static java.util.Objects.requireNonNull;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.postgres.sql.schema.tables.records.ApiKeyRecord;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jspecify.annotations.Nullable;

/** API keys within a transaction. While it lasts, no other transaction changes any of them. */
final class ApiKeyTable {
  /** The key, and what it made by rotating another key or itself, and so on. */
  private static final String REVOKE =
      """
      with recursive ended (key_id) as (
        select {0}::text
        union
        select made.key_id
        from ended
        join coatcheck.api_key made on made.made_by = ended.key_id
        where {1} and exists (
          select from coatcheck.api_key rotated where rotated.successor = made.key_id)
      )
      update coatcheck.api_key
      set revoked_at = now(), version = version + 1
      where revoked_at is null and key_id in (select key_id from ended)
      returning key_id
      """;

  /** A chain is followed key by key. Statistics from before it was made would advise full scans. */
  private static final String BY_INDEX =
      """
      select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
        set_config('enable_mergejoin', 'off', true)
      """;

  private static final Field<Instant> NOW =
      field("clock_timestamp()", API_KEY.CREATED_AT.getDataType());

  private final DSLContext sql;

  private final Instant now;

  private ApiKeyTable(DSLContext sql, Instant now) {
    this.sql = sql;
    this.now = now;
  }

  /**
   * Locks out all other changes of keys until the commit: each depends on what other keys may and
   * have been.
   */
  static ApiKeyTable locked(DSLContext sql) {
    sql.execute("lock table {0} in share row exclusive mode", API_KEY);
    return new ApiKeyTable(sql, requireNonNull(sql.select(NOW).fetchSingle().value1()));
  }

  /** When the lock was held, by the clock of Postgres. */
  Instant now() {
    return now;
  }

  Optional<StoredKey> find(String keyId) {
    return sql.selectFrom(API_KEY)
        .where(API_KEY.KEY_ID.eq(keyId))
        .fetchOptional(ApiKeyTable::storedKey);
  }

  /** Whether any key, ended ones included, has the principal. */
  boolean everHad(String principal) {
    return sql.fetchExists(API_KEY, API_KEY.PRINCIPAL.eq(principal));
  }

  /** Whether each name is that of a registered type. */
  boolean areTypes(Set<String> names) {
    return sql.fetchCount(TYPE, TYPE.NAME.in(names)) == names.size();
  }

  void insert(StoredKey key) {
    ApiKeyRecord row = record(key);
    row.setKeyId(key.keyId());
    row.setChain(key.chain());
    row.setSecretHash(key.hash().bytes());
    row.setPrincipal(key.principal());
    row.setMadeBy(key.madeBy().orElse(null));
    row.setCreatedAt(key.createdAt());
    sql.insertInto(API_KEY).set(row).execute();
  }

  /** Writes the name, the rights, the version and the successor. */
  void update(StoredKey key) {
    sql.update(API_KEY).set(record(key)).where(API_KEY.KEY_ID.eq(key.keyId())).execute();
  }

  private ApiKeyRecord record(StoredKey key) {
    ApiKeyRecord row = sql.newRecord(API_KEY);
    Rights rights = key.rights();
    row.setName(key.name());
    row.setScopes(rights.scopes().stream().map(Scope::name).toArray(String[]::new));
    row.setTypes(rights.types().map(types -> types.toArray(String[]::new)).orElse(null));
    row.setRanges(
        rights
            .ranges()
            .map(ranges -> ranges.stream().map(AddressRange::toString).toArray(String[]::new))
            .orElse(null));
    row.setLimitRequests(rights.limit().map(RateLimit::requests).orElse(null));
    row.setLimitSeconds(rights.limit().map(RateLimit::seconds).orElse(null));
    row.setLeaseMax(rights.leaseMax().orElse(null));
    row.setExpiresAt(rights.expiresAt().orElse(null));
    row.setVersion(key.version());
    row.setSuccessor(key.successor().orElse(null));
    return row;
  }

  /**
   * Ends a key, and the successors that it made.
   *
   * @return what ended only now
   */
  List<String> revoke(String keyId, boolean keepsSuccessors) {
    sql.fetch(BY_INDEX);
    return sql.resultQuery(REVOKE, val(keyId), val(!keepsSuccessors)).fetch(0, String.class);
  }

  void audit(
      Actor actor, String action, String keyId, Map<String, ? extends @Nullable Object> detail) {
    AuditTable.append(sql, actor, action, ApiKey.shown(keyId), detail);
  }

  /** Tells all instances. The last statement of the transaction. */
  void tell(List<String> keyIds) {
    ChangeTable.append(sql, ChangeKind.API_KEY, keyIds);
  }

  static StoredKey storedKey(ApiKeyRecord row) {
    return new StoredKey(
        row.getKeyId(),
        Optional.ofNullable(row.getChain()).orElse(row.getKeyId()),
        KeyHash.of(row.getSecretHash()),
        row.getName(),
        row.getPrincipal(),
        rights(row),
        row.getVersion(),
        Optional.ofNullable(row.getMadeBy()),
        Optional.ofNullable(row.getSuccessor()),
        row.getCreatedAt(),
        Optional.ofNullable(row.getRevokedAt()));
  }

  static Rights rights(ApiKeyRecord row) {
    return new Rights(
        Arrays.stream(row.getScopes()).map(Scope::stored).collect(Collectors.toSet()),
        Optional.ofNullable(row.getTypes()).map(Set::of),
        Optional.ofNullable(row.getRanges())
            .map(
                ranges ->
                    Arrays.stream(ranges)
                        .map(range -> AddressRange.parse(range).orElseThrow())
                        .collect(Collectors.toSet())),
        Optional.ofNullable(row.getLimitRequests())
            .map(requests -> new RateLimit(requests, requireNonNull(row.getLimitSeconds()))),
        Optional.ofNullable(row.getLeaseMax()),
        Optional.ofNullable(row.getExpiresAt()));
  }
}
