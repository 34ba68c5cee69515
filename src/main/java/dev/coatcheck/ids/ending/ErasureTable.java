package dev.coatcheck.ids.ending;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.MappingTable;
import dev.coatcheck.ids.mapping.PublicIdTable;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.PlainSql;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jooq.DSLContext;

/** What is written down about erased public IDs, for use inside transactions. */
public final class ErasureTable {
  /**
   * How long a stored response can outlive the erasure: six parts of four hours and the one that it
   * was written to, and a minute or two for each to begin.
   */
  static final Duration STORED_MAX = Duration.ofHours(28).plusMinutes(15);

  private static final String FORGET_ENDING =
      """
      update coatcheck.ending set status = 3, reason = null, survivor = null
       where type_id = ? and token = any(?)
      """;

  private static final String INSERT =
      """
      insert into coatcheck.erasure (token, type_id, complete_at)
      select token, ?, now() + ?::interval from unnest(?) as token
      """;

  /** Every source that had a run of the type may have the rows in its archive or its outbox. */
  private static final String INSERT_TASKS =
      """
      insert into coatcheck.erasure_task (token, type_id, key, legacy_ids, source)
      select erased.token, run.type_id, erased.key, erased.legacy_ids::bigint[], run.source
        from unnest(?, ?, ?) as erased (token, key, legacy_ids)
       cross join (
         select distinct type_id, source from coatcheck.table_migration
          where type_id = ? and started_at is not null) as run
      """;

  private static final String FORGET_SET_ASIDE =
      """
      delete from coatcheck.table_migration_set_aside
       where (key = any(?) or legacy_id = any(?))
         and migration_id in (select migration_id from coatcheck.table_migration where type_id = ?)
      """;

  /** Those of the numbers that runs tell of. A pattern of thousands takes Postgres seconds. */
  private static final String TOLD =
      """
      with run as (
        select migration_id, report, reason from coatcheck.table_migration where type_id = ?)
      select distinct number[1]
        from (select report::text from run
              union all select reason from run
              union all
              select detail from coatcheck.table_migration_event join run using (migration_id)
              union all
              select error from coatcheck.table_migration_step join run using (migration_id))
             as told (text), regexp_matches(told.text, '-?\\d+', 'g') as number
       where number[1] = any(?)
      """;

  /** A verification names rows by their legacy IDs and keys; the next one reports again. */
  private static final String FORGET_REPORTS =
      """
      update coatcheck.table_migration
         set report = case when report::text ~ names.reported then null else report end,
             reason = regexp_replace(reason, names.told, '\\1 ?', 'g')
        from (values (?, ?)) as names (reported, told)
       where type_id = ? and (report::text ~ names.reported or reason ~ names.told)
      """;

  private static final String FORGET_TOLD =
      """
      update {table} set {column} = regexp_replace({column}, names.told, '\\1 ?', 'g')
        from (values (?)) as names (told)
       where {column} ~ names.told
         and migration_id in (select migration_id from coatcheck.table_migration where type_id = ?)
      """;

  private static final String MERGED_INTO =
      "select token from coatcheck.ending where type_id = ? and survivor = ? limit ?";

  private static final String FIND =
      """
      select erasure.erased_at, erasure.complete_at,
             array(select source from coatcheck.erasure_task task
                    where task.token = erasure.token and task.type_id = erasure.type_id
                    order by source)
        from coatcheck.erasure where token = ? and type_id = ?
      """;

  private static final String KEYS =
      "select key from coatcheck.erasure_task where type_id = ? and key = any(?)";

  private ErasureTable() {}

  /** When a public ID was erased, and what is still open. */
  record Progress(Instant erasedAt, Instant completeAt, List<String> waitsFor) {}

  static Optional<Progress> find(DSLContext sql, Type type, UUID token) {
    return PlainSql.first(
        sql,
        FIND,
        row ->
            new Progress(
                PlainSql.instant(row, 1), PlainSql.instant(row, 2), PlainSql.texts(row, 3)),
        token,
        type.number());
  }

  /** Tokens that were merged into a survivor; at most {@code most}. */
  static List<UUID> mergedInto(DSLContext sql, Type type, UUID survivor, int most) {
    return PlainSql.rows(
        sql, MERGED_INTO, row -> row.getObject(1, UUID.class), type.number(), survivor, most);
  }

  /** Takes the keys from rows of one type, and what is known of their endings. */
  static void erase(DSLContext sql, Type type, List<StoredMapping> rows) {
    PublicIdTable.erase(sql, MappingTable.of(type.keyKind()), rows);
    UUID[] tokens = rows.stream().map(row -> row.token().toUuid()).toArray(UUID[]::new);
    PlainSql.execute(sql, FORGET_ENDING, type.number(), tokens);
    PlainSql.execute(sql, INSERT, type.number(), STORED_MAX.toString(), tokens);
  }

  /** Writes down what the sources have to delete, and forgets what runs say of the rows. */
  static void insertTasks(
      DSLContext sql, Type type, List<StoredMapping> rows, Map<Token, List<Alias>> aliases) {
    List<List<Long>> legacyIds =
        rows.stream().map(row -> legacyIds(aliases.getOrDefault(row.token(), List.of()))).toList();
    Long[] keys = rows.stream().map(row -> ((Key.Bigint) row.key()).value()).toArray(Long[]::new);
    int tasks =
        PlainSql.execute(
            sql,
            INSERT_TASKS,
            rows.stream().map(row -> row.token().toUuid()).toArray(UUID[]::new),
            keys,
            legacyIds.stream().map(ids -> joined(ids, ",", "{", "}")).toArray(String[]::new),
            type.number());
    if (tasks == 0) {
      return;
    }
    Long[] ids = legacyIds.stream().flatMap(List::stream).toArray(Long[]::new);
    PlainSql.execute(sql, FORGET_SET_ASIDE, keys, ids, type.number());
    List<String> found =
        PlainSql.rows(
            sql,
            TOLD,
            row -> row.getString(1),
            type.number(),
            Stream.of(keys, ids).flatMap(Stream::of).map(String::valueOf).toArray(String[]::new));
    if (found.isEmpty()) {
      return;
    }
    String numbers = joined(found, "|", "(", ")");
    String told = "\\m(ID|key|for instance) " + numbers + "\\M";
    PlainSql.execute(sql, FORGET_REPORTS, "\"(key )?" + numbers + "\"", told, type.number());
    forgetTold(sql, "coatcheck.table_migration_event", "detail", told, type);
    forgetTold(sql, "coatcheck.table_migration_step", "error", told, type);
  }

  private static void forgetTold(
      DSLContext sql, String table, String column, String told, Type type) {
    String text = FORGET_TOLD.replace("{table}", table).replace("{column}", column);
    PlainSql.execute(sql, text, told, type.number());
  }

  private static List<Long> legacyIds(List<Alias> aliases) {
    return aliases.stream()
        .filter(alias -> alias.scheme() == AliasScheme.LEGACY)
        .map(alias -> Long.valueOf(alias.value()))
        .toList();
  }

  private static String joined(List<?> parts, String between, String before, String after) {
    return parts.stream().map(String::valueOf).collect(Collectors.joining(between, before, after));
  }

  /**
   * Those of the keys that a source may still send although their public IDs were erased. Once the
   * sources have answered, they have none.
   */
  public static Set<Long> keysInSources(DSLContext sql, Type type, Collection<Long> keys) {
    return type.keyKind() == KeyKind.UUID
        ? Set.of()
        : new HashSet<>(
            PlainSql.rows(
                sql, KEYS, row -> row.getLong(1), type.number(), keys.toArray(Long[]::new)));
  }
}
