package dev.coatcheck.ids.idempotency;

import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jooq.DSLContext;

/**
 * Finds the public IDs in a stored response that were erased. Asked when the response is repeated:
 * it may have been stored just after the erasure, by a request that began before.
 */
final class ErasedIdTable {
  /** Every public ID in a body is a string of its own. */
  private static final Pattern CANDIDATE = Pattern.compile("\"([a-z0-9_]+_[0-9A-Za-z]{24})\"");

  private static final String ERASED =
      """
      select type.prefix, erasure.token
        from coatcheck.erasure join coatcheck.type using (type_id)
       where erasure.token = any(?)
      """;

  private ErasedIdTable() {}

  static Set<String> in(DSLContext sql, String body) {
    Map<String, PublicId> named = new LinkedHashMap<>();
    CANDIDATE
        .matcher(body)
        .results()
        .map(match -> match.group(1))
        .forEach(
            text -> {
              if (PublicId.parse(text) instanceof ParsedId.Valid(PublicId id)) {
                named.put(text, id);
              }
            });
    if (named.isEmpty()) {
      return Set.of();
    }
    record Erased(String prefix, UUID token) {}
    Set<Erased> erased =
        new HashSet<>(
            PlainSql.rows(
                sql,
                ERASED,
                row -> new Erased(row.getString(1), row.getObject(2, UUID.class)),
                (Object)
                    named.values().stream().map(id -> id.token().toUuid()).toArray(UUID[]::new)));
    named
        .values()
        .removeIf(id -> !erased.contains(new Erased(id.prefix().value(), id.token().toUuid())));
    return named.keySet();
  }
}
