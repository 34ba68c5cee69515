package dev.coatcheck.postgres.connection;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import org.jooq.DSLContext;

/**
 * Where the rows of each bucket are: all in one table, or in shards, which may be on many machines.
 * A statement about rows of one shard goes to that shard and may do there whatever Postgres can; a
 * statement about several shards can't lock rows or join functions on Citus. So callers {@linkplain
 * #split split} their rows and send a statement for each shard.
 *
 * <p>Read from the catalog at the start. A shard that is moved keeps its buckets. After a shard is
 * split, a statement may concern two shards, so gateways have to be restarted.
 */
public final class Shards {
  /** Buckets are 0 to 1023. */
  public static final int BUCKETS = 1_024;

  /** All rows of a kind are in one table. */
  public static final Shards ONE_TABLE = new Shards(new long[0]);

  private final long[] shardOfBucket;

  private Shards(long... shardOfBucket) {
    this.shardOfBucket = shardOfBucket;
  }

  /**
   * The shards of a database whose tables are distributed.
   *
   * @param shardOfBucket a number for each bucket, the same for buckets of one shard
   */
  public static Shards of(long... shardOfBucket) {
    if (shardOfBucket.length != BUCKETS) {
      throw new IllegalArgumentException("shards of " + shardOfBucket.length + " buckets");
    }
    return new Shards(shardOfBucket.clone());
  }

  /** Those of the database to which the statements go. */
  public static Shards of(DSLContext sql) {
    return sql.configuration().data(Shards.class) instanceof Shards shards ? shards : ONE_TABLE;
  }

  public boolean isOneTable() {
    return shardOfBucket.length == 0;
  }

  /** How many there are. */
  public int count() {
    return isOneTable() ? 1 : Math.toIntExact(Arrays.stream(shardOfBucket).distinct().count());
  }

  /**
   * The rows of each shard that has any, in their order; all of them, even if there are none, on
   * one table. All transactions use the shards in the same order, so that none of them deadlock.
   */
  public <T> List<List<T>> split(Collection<T> rows, ToIntFunction<T> bucket) {
    if (isOneTable()) {
      return List.of(List.copyOf(rows));
    }
    Map<Long, List<T>> split = new TreeMap<>();
    for (T row : rows) {
      split.computeIfAbsent(shardOfBucket[bucket.applyAsInt(row)], _ -> new ArrayList<>()).add(row);
    }
    return List.copyOf(split.values());
  }

  @Override
  public String toString() {
    return "Shards[" + count() + "]";
  }
}
