package dev.coatcheck.ids.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseSettings;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.util.List;
import java.util.Map;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;

class PurgeTest {
  @Test
  void onlyExpiredAnswersAreDeletedAndAllOfThem() {
    TestDatabase fresh = TestDatabase.fresh();
    Observer observer = new Observer();
    try (Database database =
            Database.open(
                new DatabaseSettings(fresh.url(), fresh.user(), fresh.password(), 2),
                "test",
                observer);
        Purge purge = new Purge(database, observer)) {
      IdempotencyKey kept = new IdempotencyKey("alice", "kept");
      database.write(
          "test",
          sql ->
              IdempotencyTable.keep(
                  sql,
                  List.of(
                      new IdempotencyTable.Entry(kept, "00".repeat(32), new Recorded(201, "{}")))));
      database.write(
          "test",
          sql ->
              sql.execute(
                  """
                  insert into coatcheck.idempotency
                    (expires_at, status, bucket, owner, key, request_hash, response)
                  select now() - interval '1 second', 201, 1, 'alice', n::text, '\\x00', '{}'
                    from generate_series(1, 60000) n
                  """));

      purge.run();

      int rows = database.read("test", sql -> sql.fetchCount(DSL.table("coatcheck.idempotency")));
      assertThat(rows).isEqualTo(1);
      Map<IdempotencyKey, IdempotencyTable.Past> left =
          database.read("test", sql -> IdempotencyTable.find(sql, List.of(kept)));
      assertThat(left).containsOnlyKeys(kept);
    }
  }
}
