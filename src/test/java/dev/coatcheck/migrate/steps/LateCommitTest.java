package dev.coatcheck.migrate.steps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.LockTimeout;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** The follower loses no row, however late its transaction commits. */
@ParameterizedClass
@ValueSource(booleans = {true, false})
class LateCommitTest {
  private final MigrationFixture fixture;
  private final Target target;
  private final OutboxStore store;
  private final String outbox;

  LateCommitTest(boolean beside) {
    fixture = MigrationFixture.of(beside);
    fixture.execute("create table orders (id bigserial primary key, text text)");
    target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND);
    store =
        new OutboxStore(fixture.source, fixture.gateway.database, beside, target, fixture.mappings);
    outbox = target.objects().ours("outbox_a");
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void aRowThatWasInsertedFirstAndCommittedLastIsBrought() {
    try (TestSession late = fixture.sql().session()) {
      late.begin("insert into orders (id) values (1000)");
      fixture.execute("insert into orders select from generate_series(1, 100)");
      long mark = fixture.count("select max(n) from " + outbox);
      assertThat(fixture.drain(target)).isEqualTo(100);
      late.commit();
      assertThat(fixture.column("select n from " + outbox))
          .as("a follower that goes on from its mark would never see it")
          .hasSize(1)
          .allMatch(n -> n < mark);

      assertThat(fixture.drain(target)).isEqualTo(1);
      requireAllBrought();
    }
  }

  /** It still holds the first table when the second has long been written to, and goes on. */
  @Test
  void aRowOfTheTableThatWasLeftIsBrought() {
    try (TestSession late = fixture.sql().session()) {
      late.begin("insert into orders (id) values (1000)");
      assertThatThrownBy(store::rotate).isInstanceOf(LockTimeout.class);
      fixture.execute("insert into orders select from generate_series(1, 100)");
      assertThat(fixture.drain(target)).isEqualTo(100);
      late.execute("insert into orders (id) values (1001)");
      assertThatThrownBy(store::rotate).isInstanceOf(LockTimeout.class);
      fixture.execute("insert into orders select from generate_series(1, 100)");
      late.commit();

      assertThat(fixture.drain(target)).isEqualTo(102);
      store.rotate();
      store.rotate();
      assertThat(fixture.drain(target)).isZero();
      requireAllBrought();
    }
  }

  /** It has chosen its table, and gets there when the follower is through with it. */
  @Test
  void aRowThatComesToTheTableAfterItWasEmptiedIsBrought() throws Exception {
    try (TestSession held = fixture.sql().session()) {
      held.begin("lock table " + outbox + " in share mode");
      CompletableFuture<Void> inserted =
          CompletableFuture.runAsync(
              () -> fixture.execute("insert into orders default values"),
              Thread::startVirtualThread);
      Awaitility.await().until(this::aSessionWaits);
      assertThatThrownBy(store::rotate).isInstanceOf(LockTimeout.class);
      assertThat(fixture.count("select count(*) from " + outbox)).isZero();
      held.commit();
      inserted.get();

      assertThat(fixture.count("select count(*) from " + outbox)).isEqualTo(1);
      store.rotate();
      store.rotate();
      assertThat(fixture.drain(target)).isEqualTo(1);
      requireAllBrought();
    }
  }

  private boolean aSessionWaits() {
    return fixture.count(
            "select count(*) from pg_locks l join pg_stat_activity a using (pid)"
                + " where not l.granted and a.datname = current_database()")
        > 0;
  }

  private void requireAllBrought() {
    List<Long> keys = fixture.column("select snowflake_id from orders order by 1");
    List<Long> brought =
        fixture.gateway.database.read(
            "test",
            sql ->
                sql.fetch("select key from coatcheck.public_id order by 1")
                    .getValues(0, Long.class));
    assertThat(brought).isEqualTo(keys);
  }
}
