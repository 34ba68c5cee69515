package dev.coatcheck.postgres.sql;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The tables that a Citus cluster distributes, here partitioned by hash of their bucket: a
 * statement that forgets the bucket shows in its plan.
 */
public final class PartitionedTables {
  public static final int PARTS = 16;

  public static final List<String> NAMES =
      Stream.concat(
              Stream.of("public_id", "public_id_uuid", "alias"),
              IntStream.range(0, 9).mapToObj(part -> "idempotency_" + part))
          .toList();

  private PartitionedTables() {}

  /** Partitions the tables of a schema without rows. */
  static void make(TestSql sql) {
    sql.execute(NAMES.stream().map(PartitionedTables::statement).toArray(String[]::new));
  }

  private static String statement(String table) {
    return """
    do $$ begin
      alter table coatcheck.%1$s rename to %1$s_before;
      create table coatcheck.%1$s (like coatcheck.%1$s_before including all) partition by hash (bucket);
      for part in 0..%2$d - 1 loop
        execute format('create table coatcheck.%1$s_p%%s partition of coatcheck.%1$s for values with (modulus %2$d, remainder %%s)', part, part);
      end loop;
      drop table coatcheck.%1$s_before;
    end $$\
    """
        .formatted(table, PARTS);
  }
}
