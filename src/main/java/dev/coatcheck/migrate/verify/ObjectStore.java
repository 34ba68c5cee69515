package dev.coatcheck.migrate.verify;

import dev.coatcheck.migrate.source.ObjectNames;
import dev.coatcheck.migrate.source.SqlTemplate;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;

/** Checks the objects that a run put on the table. */
final class ObjectStore {
  private static final String IS_UNIQUE =
      """
      select exists (
        select from pg_index i
          join pg_attribute c on c.attrelid = i.indrelid and c.attnum = i.indkey[0]
         where i.indrelid = <oid>::oid and c.attname = <'key'> and i.indnkeyatts = 1
           and i.indisunique and i.indisvalid and i.indisready
           and i.indpred is null and i.indexprs is null)\
      """;

  private static final SqlTemplate DUPLICATES =
      SqlTemplate.file(ObjectStore.class, "duplicates.sql");

  /** Our constraints, and the foreign keys of the children to the new column. */
  private static final String NOT_VALIDATED =
      """
      select k.conname from pg_constraint k
       where not k.convalidated
         and (k.conrelid = <oid>::oid and k.conname = <'filled_name'>
           or k.confrelid = <oid>::oid and k.contype = 'f'
             and (select c.attnum from pg_attribute c
                   where c.attrelid = <oid>::oid and c.attname = <'key'>) = any (k.confkey))
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

  private final Session source;
  private final Target target;
  private final TargetSql names;

  ObjectStore(Session source, Target target) {
    this.source = source;
    this.target = target;
    this.names = new TargetSql(target);
  }

  /** A key that several rows have, the first and the last of these rows, and how many there are. */
  record Duplicate(long key, long firstId, long lastId, long rows) {}

  /**
   * The keys that several rows have, unless an index rules them out. Without an index this reads
   * the whole table, however long that takes.
   */
  List<Duplicate> duplicates(int most) {
    return source.longTransaction(
        "verify",
        sql -> {
          RowStore.bound(sql);
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
    String[] ours = TargetSql.INDEXES.stream().map(objects::derived).toArray(String[]::new);
    return texts(INVALID_INDEXES, (Object) ours);
  }

  /** The number source with its cache, if the cache is not 1. */
  List<String> cachedSequences() {
    return texts(CACHED, ObjectNames.SCHEMA, target.objects().derived("mint_seq"));
  }

  /** The triggers that are missing or not ENABLE ALWAYS. */
  List<String> triggersOff(List<String> wanted) {
    String[] ours =
        wanted.stream().map(event -> TargetSql.TRIGGER_START + event).toArray(String[]::new);
    return texts(TRIGGERS_OFF, (Object) ours);
  }

  private List<String> texts(String query, Object... values) {
    return RowStore.read(
        source, sql -> PlainSql.rows(sql, names.fill(query), row -> row.getString(1), values));
  }
}
