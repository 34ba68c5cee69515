package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.connection.Shards;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jooq.DSLContext;

/**
 * A statement about rows of known buckets. Where tables are distributed, it is sent once for each
 * shard. A condition names the buckets of that shard: so Citus and partitioned tables know that one
 * shard is meant, and can do its lateral joins and locks as on one table. On one table the
 * condition would only cost time, and is left out.
 *
 * <p>The text has {@code {shard}} in the place of a condition, after all of its {@code ?}.
 */
public final class ShardedSql {
  private static final String CONDITION = "{shard}";

  private final String onOneTable;
  private final String onShard;

  private ShardedSql(String text, String bucketColumn) {
    this.onOneTable = text.replace(CONDITION, "true");
    this.onShard = text.replace(CONDITION, bucketColumn + " = any(?)");
  }

  /**
   * Reads a template.
   *
   * @param bucketColumn of the table that is distributed, as the text names it
   */
  public static ShardedSql of(String text, String bucketColumn) {
    if (text.lastIndexOf('?') > text.indexOf(CONDITION) || !text.contains(CONDITION)) {
      throw new IllegalArgumentException("no " + CONDITION + " at the end: " + text);
    }
    return new ShardedSql(text, bucketColumn);
  }

  /**
   * Sends it and reads what each shard returns.
   *
   * @param table finishes the text
   * @param values of the statement about some of the rows
   */
  public <R, T> List<T> rows(
      DSLContext sql,
      Function<String, String> table,
      PlainSql.RowReader<T> reader,
      Collection<R> rows,
      ToIntFunction<R> bucket,
      Function<List<R>, Object[]> values) {
    return rows(sql, PlainSql::rows, table, reader, rows, bucket, values);
  }

  /**
   * The same.
   *
   * @param query sends it
   */
  public <R, T> List<T> rows(
      DSLContext sql,
      PlainSql.Query query,
      Function<String, String> table,
      PlainSql.RowReader<T> reader,
      Collection<R> rows,
      ToIntFunction<R> bucket,
      Function<List<R>, Object[]> values) {
    Shards shards = Shards.of(sql);
    if (shards.isOneTable()) {
      return query.rows(sql, table.apply(onOneTable), reader, values.apply(List.copyOf(rows)));
    }
    List<T> found = new ArrayList<>();
    for (List<R> some : shards.split(rows, bucket)) {
      found.addAll(
          query.rows(
              sql, table.apply(onShard), reader, withBuckets(values.apply(some), some, bucket)));
    }
    return found;
  }

  /** Sends it; returns how many rows were changed. */
  public <R> int execute(
      DSLContext sql,
      Function<String, String> table,
      Collection<R> rows,
      ToIntFunction<R> bucket,
      Function<List<R>, Object[]> values) {
    Shards shards = Shards.of(sql);
    if (shards.isOneTable()) {
      return PlainSql.execute(sql, table.apply(onOneTable), values.apply(List.copyOf(rows)));
    }
    int changed = 0;
    for (List<R> some : shards.split(rows, bucket)) {
      changed +=
          PlainSql.execute(
              sql, table.apply(onShard), withBuckets(values.apply(some), some, bucket));
    }
    return changed;
  }

  private static <R> Object[] withBuckets(Object[] values, List<R> rows, ToIntFunction<R> bucket) {
    Object[] all = Arrays.copyOf(values, values.length + 1);
    all[values.length] =
        rows.stream()
            .mapToInt(bucket)
            .distinct()
            .mapToObj(one -> (short) one)
            .toArray(Short[]::new);
    return all;
  }

  /**
   * Rows of an insert into a distributed table: {@code values (?, ?), (?, ?)}. From a {@code
   * select} Citus would fetch all rows to the coordinator first, which takes ten times as long.
   *
   * @param row {@code (?, ?)}
   */
  public static String valuesOf(String row, int rows) {
    return "values " + String.join(", ", Collections.nCopies(rows, row));
  }
}
