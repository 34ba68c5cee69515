package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.connection.Shards;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jooq.DSLContext;

/** What the catalog says of distributed and of partitioned tables. */
public final class ShardCatalog {
  private static final String HAS_CITUS =
      "select exists(select from pg_catalog.pg_extension where extname = 'citus')";

  private static final String IS_DISTRIBUTED =
      """
      select exists(
        select from pg_catalog.pg_dist_partition
         where logicalrelid = to_regclass('coatcheck.public_id')::oid and partmethod = 'h')
      """;

  private static final String OF_CITUS =
      """
      select pg_catalog.get_shard_id_for_distribution_column('coatcheck.public_id', bucket::smallint)
        from generate_series(0, 1023) as bucket order by bucket
      """;

  private static final String IS_PARTITIONED =
      """
      select exists(
        select from pg_catalog.pg_partitioned_table
         where partrelid = to_regclass('coatcheck.public_id') and partstrat = 'h')
      """;

  /** By the modulus of the first partition: nearly always it is that of all. */
  private static final String OF_PARTITIONS =
      """
      select part.remainder::bigint
        from generate_series(0, 1023) as bucket,
             (select substring(pg_catalog.pg_get_expr(c.relpartbound, c.oid) from 'modulus (\\d+)')
                from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
               where i.inhparent = 'coatcheck.public_id'::regclass
               order by c.oid limit 1) as first (modulus)
       cross join lateral (
         select remainder from generate_series(0, first.modulus::integer - 1) as remainder
          where pg_catalog.satisfies_hash_partition(
                  'coatcheck.public_id'::regclass, first.modulus::integer, remainder,
                  bucket::smallint)) as part
       order by bucket
      """;

  private ShardCatalog() {}

  public static boolean hasCitus(DSLContext sql) {
    return PlainSql.isTrue(sql, HAS_CITUS);
  }

  static boolean isDistributed(DSLContext sql) {
    return hasCitus(sql) && PlainSql.isTrue(sql, IS_DISTRIBUTED);
  }

  /** Where the rows of each bucket are. */
  public static Shards shards(DSLContext sql) {
    if (isDistributed(sql)) {
      return of(sql, OF_CITUS);
    }
    return PlainSql.isTrue(sql, IS_PARTITIONED) ? of(sql, OF_PARTITIONS) : Shards.ONE_TABLE;
  }

  private static Shards of(DSLContext sql, String buckets) {
    return Shards.of(
        PlainSql.rows(sql, buckets, row -> row.getLong(1)).stream()
            .mapToLong(Long::longValue)
            .toArray());
  }

  /**
   * Why the gateway can't use a server that speaks Postgres's protocol and isn't Postgres, or a
   * node of Citus that isn't the coordinator.
   */
  static Optional<String> fault(DSLContext sql) {
    Optional<String> other = fault(String.valueOf(sql.fetchValue("select version()")));
    return other.isPresent() ? other : workerFault(sql);
  }

  /** By what {@code version()} says. */
  static Optional<String> fault(String version) {
    String lower = version.toLowerCase(Locale.ROOT);
    for (String name : List.of("CockroachDB", "Yugabyte")) {
      if (lower.contains(name.toLowerCase(Locale.ROOT)) || lower.contains(shortNameOf(name))) {
        return Optional.of(
            "it is "
                + (name.equals("Yugabyte") ? "YugabyteDB" : name)
                + ", whose advisory locks don't lock, so an Idempotency-Key could be used twice;"
                + " use PostgreSQL, with Citus where one machine is not enough");
      }
    }
    return Optional.empty();
  }

  /** YugabyteDB calls itself {@code PostgreSQL 11.2-YB-2.20}. */
  private static String shortNameOf(String name) {
    return name.equals("Yugabyte") ? "-yb-" : "cockroach";
  }

  /** Citus lets clients write on workers, whose sequences and advisory locks are their own. */
  private static Optional<String> workerFault(DSLContext sql) {
    return hasCitus(sql)
            && PlainSql.isTrue(
                sql,
                """
                select exists(select from pg_catalog.pg_dist_node)
                       and not pg_catalog.citus_is_coordinator()
                """)
        ? Optional.of(
            "it is a worker of a Citus cluster, and the change feed, leases and Idempotency-Keys"
                + " are the coordinator's; name the coordinator")
        : Optional.empty();
  }
}
