package dev.coatcheck.ids.access;

import static dev.coatcheck.postgres.sql.schema.Tables.API_KEY;
import static java.util.Objects.requireNonNull;
import static org.jooq.impl.DSL.currentOffsetDateTime;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.table;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.schema.tables.records.ApiKeyRecord;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jooq.Field;

/** All SQL about API keys. */
final class AccessStore {
  private static final Field<String> ASKED = field("wanted.asked", String.class);

  private final Database database;

  AccessStore(Database database) {
    this.database = database;
  }

  /**
   * Inserts the key that is decided on from the live keys. One at a time, otherwise two keys with
   * one name could get the same principal.
   */
  Access.Created insert(Function<List<StoredKey>, Access.Created> decide) {
    return database.write(
        "API key insert",
        sql -> {
          sql.execute("lock table {0} in share row exclusive mode", API_KEY);
          Access.Created created =
              decide.apply(
                  sql.selectFrom(API_KEY)
                      .where(API_KEY.REVOKED_AT.isNull())
                      .and("coalesce(expires_at > now(), true)")
                      .fetch(AccessStore::storedKey));
          if (created instanceof Access.Created.Made(Access.Issued issued)) {
            insert(sql, issued.stored());
          }
          return created;
        });
  }

  private static void insert(DSLContext sql, StoredKey key) {
    ApiKeyRecord row = sql.newRecord(API_KEY);
    row.setKeyId(key.keyId());
    row.setSecretHash(key.hash().bytes());
    row.setName(key.name());
    row.setPrincipal(key.principal());
    row.setScopes(key.rights().scopes().stream().map(Scope::name).toArray(String[]::new));
    row.setTypes(key.rights().types().map(types -> types.toArray(String[]::new)).orElse(null));
    row.setRanges(
        key.rights()
            .ranges()
            .map(ranges -> ranges.stream().map(AddressRange::toString).toArray(String[]::new))
            .orElse(null));
    row.setLimitRequests(key.rights().limit().map(RateLimit::requests).orElse(null));
    row.setLimitSeconds(key.rights().limit().map(RateLimit::seconds).orElse(null));
    row.setCreatedAt(key.createdAt());
    row.setExpiresAt(key.rights().expiresAt().orElse(null));
    sql.insertInto(API_KEY).set(row).execute();
  }

  Optional<StoredKey> find(String keyId) {
    return database.read(
        "API key read",
        sql -> {
          // Returns the question with each answer, and also if no row is found.
          var rows =
              sql.select(ASKED)
                  .select(API_KEY.fields())
                  .from(table("(select {0}) as wanted (asked)", val(keyId)))
                  .leftJoin(API_KEY)
                  .on(API_KEY.KEY_ID.eq(ASKED))
                  .fetch();
          ConnectionDesync.unless(
              rows.size() == 1 && keyId.equals(rows.getFirst().get(ASKED)), "another API key");
          return Optional.of(rows.getFirst())
              .filter(row -> row.get(API_KEY.KEY_ID) != null)
              .map(row -> storedKey(row.into(API_KEY)));
        });
  }

  List<StoredKey> all() {
    return database.read(
        "API key list",
        sql -> sql.selectFrom(API_KEY).orderBy(API_KEY.CREATED_AT).fetch(AccessStore::storedKey));
  }

  boolean revoke(String keyId) {
    return database.write(
        "API key revoke",
        sql -> {
          int revoked =
              sql.update(API_KEY)
                  .set(API_KEY.REVOKED_AT, currentOffsetDateTime().coerce(API_KEY.REVOKED_AT))
                  .where(API_KEY.KEY_ID.eq(keyId), API_KEY.REVOKED_AT.isNull())
                  .execute();
          ChangeTable.append(sql, ChangeKind.API_KEY, revoked == 1 ? List.of(keyId) : List.of());
          return revoked == 1;
        });
  }

  private static StoredKey storedKey(ApiKeyRecord row) {
    return new StoredKey(
        row.getKeyId(),
        new StoredKey.Hash(row.getSecretHash()),
        row.getName(),
        row.getPrincipal(),
        rights(row),
        row.getCreatedAt(),
        Optional.ofNullable(row.getRevokedAt()));
  }

  private static Rights rights(ApiKeyRecord row) {
    return new Rights(
        Arrays.stream(row.getScopes()).map(Scope::new).collect(Collectors.toSet()),
        Optional.ofNullable(row.getTypes()).map(Set::of),
        Optional.ofNullable(row.getRanges())
            .map(
                ranges ->
                    Arrays.stream(ranges)
                        .map(range -> AddressRange.parse(range).orElseThrow())
                        .collect(Collectors.toSet())),
        Optional.ofNullable(row.getLimitRequests())
            .map(requests -> new RateLimit(requests, requireNonNull(row.getLimitSeconds()))),
        Optional.ofNullable(row.getExpiresAt()));
  }
}
