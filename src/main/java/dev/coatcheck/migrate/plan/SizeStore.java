package dev.coatcheck.migrate.plan;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.migrate.plan.SurveyStore.Relation;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jooq.DSLContext;

/**
 * Measures a table and its server, in the transaction of a {@link SurveyStore}. The rows of a small
 * table are counted; those of a large one are estimated from a sample of its pages and from what
 * the last analyze saw of each page.
 */
final class SizeStore {
  /** Pages that are read for an estimate. */
  private static final long SAMPLE_PAGES = 2_000;

  private static final int PAGE_BYTES = 8_192;

  /** A scan of less says nothing about the server. */
  private static final double READ_BYTES_MIN = 1 << 20;

  /** In bytes a second. */
  private static final double READ_USUAL = 300e6;

  private static final double READ_LEAST = 10e6;
  private static final double READ_MOST = 2e9;

  /** What the reckoning takes on the core on which estimates were measured. */
  private static final double RECKONING_NANOS = 12e6;

  private static final double SLOWNESS_LEAST = 0.5;
  private static final double SLOWNESS_MOST = 4;

  private static final String INDEXES =
      """
      select pg_indexes_size(?::oid), (select count(*)::int from pg_index where indrelid = ?::oid)\
      """;

  /**
   * A row of a table that was never analyzed, or was empty then, is taken to have a hundred bytes.
   */
  private static final String CHILDREN =
      """
      select coalesce(sum(case when c.reltuples < 0 or c.relpages = 0
                               then pg_relation_size(c.oid) / 100
                               else c.reltuples::float8 / c.relpages
                                      * (pg_relation_size(c.oid)
                                           / current_setting('block_size')::int) end), 0)::bigint,
             coalesce(sum(pg_relation_size(c.oid)), 0)::bigint,
             coalesce(sum(pg_indexes_size(c.oid)), 0)::bigint
        from pg_constraint f join pg_class c on c.oid = f.conrelid
       where f.contype = 'f' and f.confrelid = ?::oid and c.relkind = 'r'\
      """;

  private static final String RECKONING =
      "select count(*) from generate_series(1, 100000) as n where hashint8(n) = 0";

  private final DSLContext sql;
  private final TableSurvey.Limits limits;
  private final LongSupplier nanoTime;

  SizeStore(DSLContext sql, TableSurvey.Limits limits, LongSupplier nanoTime) {
    this.sql = sql;
    this.limits = limits;
    this.nanoTime = nanoTime;
  }

  private record Indexes(long bytes, int count) {}

  private record Count(long rows, long olderThanEpoch) {}

  TableSize measure(Relation relation, TableName table, Optional<Target.TimeColumn> createdAt) {
    double percent = samplePercent(relation);
    long beganNano = nanoTime.getAsLong();
    Count count = count(table, createdAt, percent);
    long countNanos = nanoTime.getAsLong() - beganNano;
    boolean isEstimated = percent < 100;
    double readBytes = relation.heapBytes() * percent / 100;
    double read = readBytes < READ_BYTES_MIN ? READ_USUAL : readBytes * 1e9 / countNanos;
    Indexes indexes = indexes(relation.oid());
    return new TableSize(
        isEstimated && relation.tuples() >= 0 ? Math.round(relation.tuples()) : count.rows(),
        isEstimated,
        count.olderThanEpoch(),
        relation.bytes(),
        relation.heapBytes(),
        indexes.bytes(),
        indexes.count(),
        Math.clamp(read, READ_LEAST, READ_MOST),
        Math.clamp(reckoningNanos() / RECKONING_NANOS, SLOWNESS_LEAST, SLOWNESS_MOST),
        children(relation.oid()));
  }

  private double samplePercent(Relation relation) {
    boolean isSmall =
        relation.tuples() < limits.exactRowsMax() && relation.heapBytes() <= limits.exactBytesMax();
    long pages = Math.max(1, relation.heapBytes() / PAGE_BYTES);
    return isSmall ? 100 : Math.min(99, 100.0 * SAMPLE_PAGES / pages);
  }

  private long reckoningNanos() {
    long beganNano = nanoTime.getAsLong();
    reckon();
    return nanoTime.getAsLong() - beganNano;
  }

  private Indexes indexes(long oid) {
    return PlainSql.row(sql, INDEXES, row -> new Indexes(row.getLong(1), row.getInt(2)), oid, oid);
  }

  private TableSize.Children children(long oid) {
    return PlainSql.row(
        sql,
        CHILDREN,
        row -> new TableSize.Children(row.getLong(1), row.getLong(2), row.getLong(3)),
        oid);
  }

  /** Gives the server some milliseconds of work without any table. */
  private void reckon() {
    PlainSql.rows(sql, RECKONING, row -> row.getLong(1));
  }

  /**
   * @param percent of the pages that are read; 100 counts all rows
   */
  private Count count(TableName table, Optional<Target.TimeColumn> createdAt, double percent) {
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
