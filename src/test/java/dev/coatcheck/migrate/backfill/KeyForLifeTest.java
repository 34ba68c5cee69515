package dev.coatcheck.migrate.backfill;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A legacy ID never gets a second key, whatever transactions are under way. */
class KeyForLifeTest {
  private static final String NOT_SERIALIZABLE = "40001";

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.beside();
  private Target target;

  @BeforeEach
  void tenRows() {
    fixture.execute(
        "create table orders (id bigserial primary key, text text)",
        "insert into orders (text) select 'x' from generate_series(1, 10) n");
    target = fixture.target(Optional.empty());
    fixture.apply(target, Phase.EXPAND, Phase.BACKFILL);
  }

  /** The insert waits for the delete, whose archived key its snapshot can't see. */
  @ParameterizedTest
  @ValueSource(strings = {"read committed", "repeatable read", "serializable"})
  void aRowThatComesBackGetsItsKeyBack(String isolation) throws Exception {
    long key = fixture.count("select snowflake_id from orders where id = 5");
    try (TestSession leaving = fixture.sql().session();
        TestSession coming = fixture.sql().session()) {
      coming.begin("set transaction isolation level " + isolation, "select 1 from orders");
      leaving.begin("delete from orders where id = 5");
      CompletableFuture<Boolean> inserted =
          CompletableFuture.supplyAsync(() -> inserts(coming), Thread::startVirtualThread);
      Awaitility.await().until(this::aSessionWaits);
      leaving.commit();

      boolean isThere = inserted.get();
      assertThat(isThere || !isolation.equals("read committed")).isTrue();
    }
    fixture.execute("insert into orders (id) values (5) on conflict do nothing");
    assertThat(fixture.count("select snowflake_id from orders where id = 5")).isEqualTo(key);
    fixture.drain(target);
    assertThat(fixture.drain(target)).isZero();
  }

  /** Committed after the archive has passed its ID. */
  @Test
  void aRowUnderWayDuringAnUndoKeepsItsKey() throws Exception {
    try (TestSession late = fixture.sql().session()) {
      late.begin("insert into orders (id) values (100)");
      long key = late.number("select snowflake_id from orders where id = 100");
      fixture.execute("insert into orders (id) values (200)");
      CompletableFuture<Void> undone =
          CompletableFuture.runAsync(
              () -> {
                fixture.drain(target);
                fixture.undo(target, Phase.EXPAND);
              },
              Thread::startVirtualThread);
      Awaitility.await().until(this::aSessionWaits);
      late.commit();
      Awaitility.await()
          .until(
              () -> {
                drainIfThere();
                return undone.isDone();
              });
      undone.get();

      Target again = fixture.target(Optional.empty());
      fixture.apply(again, Phase.EXPAND, Phase.BACKFILL);
      assertThat(fixture.count("select snowflake_id from orders where id = 100")).isEqualTo(key);
    }
  }

  private void drainIfThere() {
    fixture.drain(target);
  }

  private static boolean inserts(TestSession session) {
    try {
      session.execute("insert into orders (id) values (5)", "commit");
      return true;
    } catch (AssertionError refused) {
      if (NOT_SERIALIZABLE.equals(TestSession.sqlState(refused))) {
        return false;
      }
      throw refused;
    }
  }

  private boolean aSessionWaits() {
    return fixture.count(
            "select count(*) from pg_locks l join pg_stat_activity a using (pid)"
                + " where not l.granted and a.datname = current_database()")
        > 0;
  }
}
