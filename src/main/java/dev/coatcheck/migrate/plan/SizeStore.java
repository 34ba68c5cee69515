package dev.coatcheck.migrate.plan;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.Optional;
import org.jooq.DSLContext;

/** Reads how large a table is, in the transaction of an {@link InventoryStore}. */
final class SizeStore {
  private static final String INDEXES =
      """
      select pg_indexes_size(?::oid), (select count(*)::int from pg_index where indrelid = ?::oid)\
      """;

  /** A row of a table that was never analyzed is taken to have a hundred bytes. */
  private static final String CHILDREN =
      """
      select coalesce(sum(case when c.reltuples < 0 then pg_relation_size(c.oid) / 100
                               else c.reltuples end), 0)::bigint,
             coalesce(sum(pg_relation_size(c.oid)), 0)::bigint,
             coalesce(sum(pg_indexes_size(c.oid)), 0)::bigint
        from pg_constraint f join pg_class c on c.oid = f.conrelid
       where f.contype = 'f' and f.confrelid = ?::oid and c.relkind = 'r'\
      """;

  private static final String RECKONING =
      "select count(*) from generate_series(1, 100000) as n where hashint8(n) = 0";

  private final DSLContext sql;

  SizeStore(DSLContext sql) {
    this.sql = sql;
  }

  record Indexes(long bytes, int count) {}

  record Count(long rows, long olderThanEpoch) {}

  Indexes indexes(long oid) {
    return PlainSql.row(sql, INDEXES, row -> new Indexes(row.getLong(1), row.getInt(2)), oid, oid);
  }

  TableSize.Children children(long oid) {
    return PlainSql.row(
        sql,
        CHILDREN,
        row -> new TableSize.Children(row.getLong(1), row.getLong(2), row.getLong(3)),
        oid);
  }

  /** Gives the server some milliseconds of work without any table. */
  void reckon() {
    PlainSql.rows(sql, RECKONING, row -> row.getLong(1));
  }

  /**
   * Counts rows.
   *
   * @param percent of the pages that are read; 100 counts all rows
   */
  Count count(TableName table, Optional<Target.TimeColumn> createdAt, double percent) {
    String older = createdAt.map(SizeStore::older).orElse("false");
    String sample = percent < 100 ? " tablesample system (" + percent + ")" : "";
    String text =
        "select count(*), count(*) filter (where " + older + ") from " + table.quoted() + sample;
    return PlainSql.row(
        sql,
        text,
        row -> new Count(scaled(row.getLong(1), percent), scaled(row.getLong(2), percent)));
  }

  private static String older(Target.TimeColumn column) {
    String name = TableName.quoted(column.name());
    String epoch = "to_timestamp(" + SnowflakeLayout.DEFAULT.epochMillis() + " / 1000.0)";
    return "isfinite(%s) and %s < %s"
        .formatted(
            name,
            name,
            column.type().equals("timestamptz") ? epoch : "(" + epoch + " at time zone 'UTC')");
  }

  private static long scaled(long counted, double percent) {
    return percent < 100 ? Math.round(counted * 100 / percent) : counted;
  }
}
