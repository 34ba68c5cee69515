package dev.coatcheck.migrate.verify;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.alias.AliasTable;
import dev.coatcheck.ids.mapping.PublicIdTable;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.source.ObjectNames;
import dev.coatcheck.migrate.source.ObjectsGone;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.jspecify.annotations.Nullable;

/** All that a verification reads. Each read is short and has a snapshot of its own. */
final class VerifierStore {
  /** With {@code row_security} off, rows that a policy would hide raise an error. */
  private static final String BOUND =
      """
      select set_config('row_security', 'off', true), set_config('lock_timeout', '10s', true)\
      """;

  private static final String ROW =
      """
      select t.<id>::bigint, t.snowflake_id,
             (select a.key from <archive> a where a.legacy = t.<id>), <created_ms> - <epoch>
        from <table> t\
      """;

  private static final String RANGE =
      ROW + " where t.<id> > ? and t.<id> <= ? order by t.<id> limit ?";

  private static final String AGAIN = ROW + " where t.<id> = any (?::bigint[]) order by t.<id>";

  private static final String NOW =
      "select floor(extract(epoch from clock_timestamp()) * 1000)::bigint - <epoch>";

  private static final String BOUNDS =
      """
      select c.t0_ms, (select max(t.<id>)::bigint from <table> t)
        from <schema>.checkpoint c where c.run = <run>\
      """;

  private static final String IS_UNIQUE =
      """
      select exists (
        select from pg_index i
          join pg_attribute c on c.attrelid = i.indrelid and c.attnum = i.indkey[0]
         where i.indrelid = <oid>::oid and c.attname = 'snowflake_id' and i.indnkeyatts = 1
           and i.indisunique and i.indisvalid and i.indisready
           and i.indpred is null and i.indexprs is null)\
      """;

  private static final String DUPLICATES =
      """
      select t.snowflake_id, min(t.<id>)::bigint, max(t.<id>)::bigint,
             (sum(count(*)) over ())::bigint
        from <table> t where t.snowflake_id is not null
       group by t.snowflake_id having count(*) > 1 order by 2 limit ?\
      """;

  /** Ours, and those foreign keys to the new column that the children have. */
  private static final String NOT_VALIDATED =
      """
      select k.conname from pg_constraint k
       where not k.convalidated
         and (k.conrelid = <oid>::oid and k.conname = <'filled_name'>
           or k.confrelid = <oid>::oid and k.contype = 'f'
             and (select c.attnum from pg_attribute c
                   where c.attrelid = <oid>::oid and c.attname = 'snowflake_id') = any (k.confkey))
       order by k.conname\
      """;

  private static final String INVALID_INDEXES =
      """
      select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
       where i.indrelid = <oid>::oid and c.relname = any (?)
         and not (i.indisvalid and i.indisready)
       order by c.relname\
      """;

  private static final String CACHED =
      """
      select c.relname || ': ' || s.seqcache
        from pg_sequence s join pg_class c on c.oid = s.seqrelid
        join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = ? and c.relname = ? and s.seqcache <> 1\
      """;

  private static final String TRIGGERS_OFF =
      """
      select wanted.name from unnest(?) as wanted (name)
       where not exists (
         select from pg_trigger g where g.tgrelid = <oid>::oid and g.tgname = wanted.name
            and g.tgenabled = 'A')\
      """;

  /** Waits for whoever is bringing one of these just now. */
  private static final String WAITING =
      """
      select n from <outbox> where legacy = any (?::bigint[]) for key share\
      """;

  private static final int STATEMENT_MILLIS_MAX = 30_000;

  private final Session source;
  private final Database gateway;
  private final Target target;
  private final Type type;
  private final TargetSql names;

  VerifierStore(Session source, Database gateway, Target target, Type type) {
    this.source = source;
    this.gateway = gateway;
    this.target = target;
    this.type = type;
    this.names = new TargetSql(target);
  }

  /**
   * A row of the table.
   *
   * @param archived the key that its legacy ID had before
   * @param createdMillis since the epoch of the layout
   */
  record Row(
      long legacy, @Nullable Long key, @Nullable Long archived, @Nullable Long createdMillis) {}

  /** Rows, and what the source's clock said after they were read, since the layout's epoch. */
  record Range(List<Row> rows, long nowMillis) {}

  /**
   * What is looked at.
   *
   * @param lastId empty for a table without rows
   */
  record Bounds(long t0Millis, OptionalLong lastId) {}

  /** A key that several rows have, the outermost of them, and how many rows there are like them. */
  record Duplicate(long key, long firstId, long lastId, long rows) {}

  /** Where a legacy ID and a key lead; null: nowhere. */
  record Published(@Nullable Token alias, @Nullable Token mapping) {}

  /**
   * The bounds of a verification.
   *
   * @throws ObjectsGone if the row of the run is not there
   */
  Bounds bounds() {
    return read(
            sql ->
                PlainSql.rows(
                    sql,
                    names.fill(BOUNDS),
                    row -> {
                      Long last = PlainSql.longOrNull(row, 2);
                      return new Bounds(
                          row.getLong(1),
                          last == null ? OptionalLong.empty() : OptionalLong.of(last));
                    }))
        .stream()
        .findFirst()
        .orElseThrow(ObjectsGone::checkpoint);
  }

  Range range(long afterId, long lastId, int rows) {
    return read(
        sql -> {
          List<Row> read =
              PlainSql.rows(sql, names.fill(RANGE), VerifierStore::row, afterId, lastId, rows);
          long now = PlainSql.rows(sql, names.fill(NOW), row -> row.getLong(1)).getFirst();
          return new Range(read, now);
        });
  }

  /** The rows as they are now; without those that are gone. */
  List<Row> again(List<Row> rows) {
    return read(
        sql -> PlainSql.rows(sql, names.fill(AGAIN), VerifierStore::row, (Object) ids(rows)));
  }

  /** Whether entries of these rows wait in the outbox, and nobody is bringing them. */
  boolean isWaiting(List<Row> rows) {
    return read(
        sql -> {
          boolean waits = false;
          for (String outbox : List.of("<outbox_a>", "<outbox_b>")) {
            String query = names.fill(WAITING.replace("<outbox>", outbox));
            waits |=
                !PlainSql.rows(sql, query, row -> row.getLong(1), (Object) ids(rows)).isEmpty();
          }
          return waits;
        });
  }

  /**
   * The keys that several rows have, unless an index says that there are none: without one it reads
   * the whole table, however long that takes.
   */
  List<Duplicate> duplicates(int most) {
    return source.longTransaction(
        "verify",
        sql -> {
          PlainSql.execute(sql, BOUND);
          return PlainSql.isTrue(sql, names.fill(IS_UNIQUE))
              ? List.of()
              : PlainSql.rows(
                  sql,
                  names.fill(DUPLICATES),
                  row ->
                      new Duplicate(row.getLong(1), row.getLong(2), row.getLong(3), row.getLong(4)),
                  most);
        });
  }

  List<String> constraintsNotValidated() {
    return texts(NOT_VALIDATED);
  }

  List<String> invalidIndexes() {
    ObjectNames objects = target.objects();
    String[] ours =
        Stream.of("new_perm", "new_pk", "old_perm", "old_pk")
            .map(objects::derived)
            .toArray(String[]::new);
    return texts(INVALID_INDEXES, (Object) ours);
  }

  /** The number source with its cache, if that is not 1. */
  List<String> cachedSequences() {
    return texts(CACHED, ObjectNames.SCHEMA, target.objects().derived("mint_seq"));
  }

  List<String> triggersOff() {
    String[] ours =
        TargetSql.TRIGGERS.stream()
            .map(event -> TargetSql.TRIGGER_START + event)
            .toArray(String[]::new);
    return texts(TRIGGERS_OFF, (Object) ours);
  }

  /** What the gateway knows of rows that have a key and a positive ID, in their order. */
  List<Published> published(List<Row> rows) {
    List<Alias> aliases =
        rows.stream()
            .map(row -> Alias.of(type, AliasScheme.LEGACY, Long.toString(row.legacy())))
            .toList();
    List<TypedKey> subjects =
        rows.stream().map(row -> TypedKey.of(type, new Key.Bigint(key(row)))).toList();
    return gateway.read(
        "verify",
        sql -> {
          Map<Alias, Token> targets = AliasTable.targets(sql, aliases);
          Map<TypedKey, Token> tokens = new HashMap<>();
          PublicIdTable.byKey(sql, subjects.stream().distinct().toList())
              .forEach((subject, mapping) -> tokens.put(subject, mapping.token()));
          return IntStream.range(0, rows.size())
              .mapToObj(
                  i -> new Published(targets.get(aliases.get(i)), tokens.get(subjects.get(i))))
              .toList();
        });
  }

  private static long key(Row row) {
    return Objects.requireNonNull(row.key());
  }

  private static Row row(ResultSet row) throws SQLException {
    return new Row(
        row.getLong(1),
        PlainSql.longOrNull(row, 2),
        PlainSql.longOrNull(row, 3),
        PlainSql.longOrNull(row, 4));
  }

  private static Long[] ids(List<Row> rows) {
    return rows.stream().map(Row::legacy).toArray(Long[]::new);
  }

  private List<String> texts(String query, Object... values) {
    return read(sql -> PlainSql.rows(sql, names.fill(query), row -> row.getString(1), values));
  }

  private <T> T read(Function<DSLContext, T> work) {
    return source.transaction(
        "verify",
        STATEMENT_MILLIS_MAX,
        sql -> {
          PlainSql.execute(sql, BOUND);
          return work.apply(sql);
        });
  }
}
