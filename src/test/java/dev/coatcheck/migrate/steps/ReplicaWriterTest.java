package dev.coatcheck.migrate.steps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.Breakage;
import dev.coatcheck.BrokenBy;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A writer that calls itself a replica, as tools that copy rows do, switches the usual triggers of
 * a table off, but none of ours. Each defect is one trigger that fires for other writers only.
 */
class ReplicaWriterTest {
  @RegisterExtension static final MigrationFixture fixture = MigrationFixture.apart();

  @Test
  @BrokenBy({"t_insert", "t_inserted", "t_reused", "t_delete", "t_update", "t_rekey", "t_truncate"})
  void itsRowsAreTreatedLikeThoseOfOthers() {
    TargetSql names = new TargetSql(migrated());
    try (TestSession replica = fixture.sql().session();
        TestSession other = fixture.sql().session()) {
      long third = key(3);
      List<Long> before = keys();
      replica.execute("set session_replication_role = replica");

      for (String refused : List.of("update orders set id = id + 1000", "truncate orders")) {
        assertThatThrownBy(() -> replica.execute(refused))
            .hasStackTraceContaining("of the key is refused while the table migrates");
      }
      replica.execute("update orders set snowflake_id = 5");
      assertThat(keys()).isEqualTo(before);

      replica.execute("insert into orders (text) values ('new')");
      assertThat(fixture.column("select id from orders where snowflake_id is null")).isEmpty();
      assertThat(fixture.column(names.fill("select legacy from <outbox_a>"))).contains(11L);

      replica.execute("delete from orders where id = 4");
      assertThat(fixture.column(names.fill("select legacy from <archive>"))).contains(4L);

      insertWhileItIsDeleted(replica, other);
      assertThat(key(3)).isEqualTo(third);
    }
  }

  @TestFactory
  Stream<DynamicTest> eachOfTheTriggersIsNeeded() {
    return Breakage.requireRed(this);
  }

  private static Target migrated() {
    fixture.clear();
    fixture.execute(
        "create table orders (id bigserial primary key, text text)",
        "insert into orders (text) select 'old' from generate_series(1, 10)");
    Target target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND, Phase.BACKFILL);
    if (!Breakage.current().isEmpty()) {
      fixture.execute(
          new TargetSql(target)
              .fill("alter table <table> enable trigger <" + Breakage.current() + ">"));
    }
    return target;
  }

  /** The key of the deleted row is archived only when the new row has another key already. */
  private static void insertWhileItIsDeleted(TestSession replica, TestSession other) {
    other.begin("delete from orders where id = 3");
    long backend = replica.pid();
    CompletableFuture<Void> inserted =
        CompletableFuture.runAsync(
            () -> replica.execute("insert into orders (id, text) values (3, 'back')"),
            Thread::startVirtualThread);
    await()
        .until(
            () ->
                fixture.count(
                        "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                            + " and pid = "
                            + backend)
                    == 1);
    other.commit();
    inserted.join();
  }

  private static List<Long> keys() {
    return fixture.column("select snowflake_id from orders order by id");
  }

  private static long key(long id) {
    return fixture.count("select snowflake_id from orders where id = " + id);
  }
}
