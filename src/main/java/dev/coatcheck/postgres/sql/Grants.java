package dev.coatcheck.postgres.sql;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jooq.DSLContext;

/**
 * What a role needs that serves requests on the schema {@code coatcheck} without owning it. It can
 * define nothing, and neither change nor delete what the audit holds.
 */
public final class Grants {
  private static final int ROLE_BYTES_MAX = 63;

  /** Nine tables in turn, emptied by a truncate. */
  private static final int IDEMPOTENCY_PARTS = 9;

  private static final String READ = "select";
  private static final String APPEND = "select, insert";
  private static final String COUNT = "select, update";
  private static final String WRITE = "select, insert, update";
  private static final String APPEND_AND_DELETE = "select, insert, delete";

  /** To lock rows for a delete Postgres asks for the right to update as well. */
  private static final String ALL_ROWS = "select, insert, update, delete";

  private static final String TURN = "select, insert, truncate";

  /** The rights on each table. A table that is missing here can't be used at all. */
  static final SortedMap<String, String> RIGHTS = rights();

  private Grants() {}

  private static SortedMap<String, String> rights() {
    SortedMap<String, String> rights = new TreeMap<>();
    rights.put("alias", APPEND_AND_DELETE);
    rights.put("api_key", WRITE);
    rights.put("api_key_use", WRITE);
    rights.put("audit_entry", APPEND);
    rights.put("change", ALL_ROWS);
    rights.put("change_head", COUNT);
    rights.put("console_session", ALL_ROWS);
    rights.put("dated_key", WRITE);
    rights.put("ending", WRITE);
    rights.put("era", WRITE);
    rights.put("erased_alias", APPEND);
    rights.put("erasure", WRITE);
    rights.put("erasure_task", APPEND_AND_DELETE);
    rights.put("flyway_schema_history", READ);
    rights.put("idempotency_turn", COUNT);
    rights.put("instance", ALL_ROWS);
    rights.put("key_fence", COUNT);
    rights.put("lease_window", APPEND);
    rights.put("legacy_caller", ALL_ROWS);
    rights.put("legacy_caller_sum", WRITE);
    rights.put("legacy_hit", WRITE);
    rights.put("pinned_key", APPEND_AND_DELETE);
    rights.put("public_id", WRITE);
    rights.put("public_id_uuid", WRITE);
    rights.put("segment", WRITE);
    rights.put("table_migration", WRITE);
    rights.put("table_migration_event", WRITE);
    rights.put("table_migration_load", APPEND_AND_DELETE);
    rights.put("table_migration_set_aside", APPEND_AND_DELETE);
    rights.put("table_migration_step", WRITE);
    rights.put("type", WRITE);
    rights.put("worker_lease", WRITE);
    rights.put("worker_lease_origin", READ);
    for (int part = 0; part < IDEMPOTENCY_PARTS; part++) {
      rights.put("idempotency_" + part, TURN);
    }
    return rights;
  }

  /** Why a text can't be the name of such a role; empty if it can. */
  public static Optional<String> fault(String role) {
    if (role.isEmpty()
        || role.getBytes(StandardCharsets.UTF_8).length > ROLE_BYTES_MAX
        || role.chars().anyMatch(Character::isISOControl)) {
      return Optional.of("must be a name of 1 to " + ROLE_BYTES_MAX + " bytes");
    }
    return role.equals("public")
        ? Optional.of("is every role of the server: name a role of the gateway's own")
        : Optional.empty();
  }

  /** The statements that give it all that it needs, for the owner of the schema to run. */
  public static String sql(String role) {
    String to = " to \"" + role.replace("\"", "\"\"") + "\";\n";
    Map<String, List<String>> byRights =
        RIGHTS.entrySet().stream()
            .collect(
                Collectors.groupingBy(
                    Map.Entry::getValue,
                    TreeMap::new,
                    Collectors.mapping(Map.Entry::getKey, Collectors.toList())));
    StringBuilder sql = new StringBuilder("grant usage on schema coatcheck" + to);
    sql.append("grant execute on all functions in schema coatcheck").append(to);
    byRights.forEach(
        (rights, tables) ->
            sql.append("grant ")
                .append(rights)
                .append(" on\n")
                .append(
                    tables.stream()
                        .map(table -> "  coatcheck." + table)
                        .collect(Collectors.joining(",\n")))
                .append(to));
    return sql.toString();
  }

  /** What our role lacks, each as {@code insert on coatcheck.alias}. */
  static List<String> missing(DSLContext sql) {
    return PlainSql.rows(
        sql,
        """
        select 'usage on schema coatcheck'
         where not has_schema_privilege('coatcheck', 'usage')
        union all
        select needed.one || ' on coatcheck.' || c.relname
          from unnest(?, ?) as used (relation, rights),
               unnest(string_to_array(used.rights, ', ')) as needed (one),
               pg_class c
         where c.relname = used.relation and c.relnamespace = 'coatcheck'::regnamespace
           and not has_table_privilege(c.oid, needed.one)
        """,
        row -> row.getString(1),
        RIGHTS.keySet().toArray(String[]::new),
        RIGHTS.values().toArray(String[]::new));
  }
}
