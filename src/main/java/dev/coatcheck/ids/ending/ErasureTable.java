package dev.coatcheck.ids.ending;

import dev.coatcheck.core.key.KeyKind;
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

  /** Every source that had a run of the type may have the row in its archive or its outbox. */
  private static final String INSERT_TASKS =
      """
      insert into coatcheck.erasure_task (token, type_id, key, legacy_ids, source)
      select distinct ?::uuid, type_id, ?::bigint, ?::bigint[], source
        from coatcheck.table_migration where type_id = ? and started_at is not null
      """;

  private static final String FORGET_SET_ASIDE =
      """
      delete from coatcheck.table_migration_set_aside
       where (key = ? or legacy_id = any(?))
         and migration_id in (select migration_id from coatcheck.table_migration where type_id = ?)
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

  private static final String FORGET_EVENTS =
      """
      update coatcheck.table_migration_event
         set detail = regexp_replace(detail, names.told, '\\1 ?', 'g')
        from (values (?)) as names (told)
       where detail ~ names.told
         and migration_id in (select migration_id from coatcheck.table_migration where type_id = ?)
      """;

  private static final String FORGET_STEPS =
      """
      update coatcheck.table_migration_step
         set error = regexp_replace(error, names.told, '\\1 ?', 'g')
        from (values (?)) as names (told)
       where error ~ names.told
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

  /**
   * Writes down what the sources of the type have to delete, and forgets what runs say of the row.
   */
  static void insertTasks(DSLContext sql, Type type, UUID token, long key, List<Long> legacyIds) {
    Long[] ids = legacyIds.toArray(Long[]::new);
    if (PlainSql.execute(sql, INSERT_TASKS, token, key, ids, type.number()) == 0) {
      return;
    }
    PlainSql.execute(sql, FORGET_SET_ASIDE, key, ids, type.number());
    String numbers =
        Stream.concat(Stream.of(key), legacyIds.stream())
            .map(String::valueOf)
            .collect(Collectors.joining("|", "(", ")"));
    String told = "\\m(ID|key|for instance) " + numbers + "\\M";
    PlainSql.execute(sql, FORGET_REPORTS, "\"(key )?" + numbers + "\"", told, type.number());
    PlainSql.execute(sql, FORGET_EVENTS, told, type.number());
    PlainSql.execute(sql, FORGET_STEPS, told, type.number());
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
