package dev.coatcheck.postgres.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.Shards;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ShardCatalogTest {
  @Test
  void whatOnlySpeaksPostgresIsRefusedWithTheReason() {
    assertThat(
            List.of(
                "CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu, built 2024/05/15, go1.22)",
                "PostgreSQL 11.2-YB-2.20.1.0-b0 on x86_64-pc-linux-gnu"))
        .allSatisfy(
            version ->
                assertThat(ShardCatalog.fault(version))
                    .get()
                    .asString()
                    .contains("advisory locks"));
    assertThat(ShardCatalog.fault("PostgreSQL 18.1 on x86_64-pc-linux-gnu")).isEmpty();
  }

  @Test
  void theRowsOfABucketAreInThePartitionThatTheCatalogNames() {
    TestDatabase partitioned = TestDatabase.partitioned();
    Shards shards = shards(partitioned);
    assertThat(shards.count()).isEqualTo(PartitionedTables.PARTS);

    partitioned
        .sql()
        .execute(
            "insert into coatcheck.public_id (key, token, type_id, bucket)"
                + " select b, gen_random_uuid(), 1, b from generate_series(0, 1023) b");

    List<Integer> buckets = IntStream.range(0, Shards.BUCKETS).boxed().toList();
    for (List<Integer> some : shards.split(buckets, bucket -> bucket)) {
      assertThat(
              partitioned
                  .sql()
                  .texts(
                      "select distinct tableoid::regclass from coatcheck.public_id where bucket in"
                          + " ("
                          + some.toString().replaceAll("[\\[\\]]", "")
                          + ")"))
          .hasSize(1);
    }
    assertThat(shards(TestDatabase.fresh()).isOneTable()).isTrue();
  }

  private static Shards shards(TestDatabase database) {
    try (Database pool = Database.open(database.settings(1), "shards", new Observer())) {
      return ServerCheck.shards(pool);
    }
  }
}
