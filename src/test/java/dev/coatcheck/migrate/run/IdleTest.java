package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** An instance without runs leaves Postgres alone, and hears of the first run. */
class IdleTest {
  /** Each takes longer than the pause between two looks for runs. */
  private static final int POLLS = 4;

  private static final int TRIES_MAX = 5;
  private static final AtomicInteger TYPES = new AtomicInteger();

  @Test
  void anInstanceWithoutRunsDoesNotLookForThem() {
    try (MigrationFixture fixture = MigrationFixture.beside()) {
      boolean isQuiet = false;
      for (int tried = 0; tried < TRIES_MAX && !isQuiet; tried++) { // the first look is in order
        isQuiet = isQuiet(fixture);
      }
      assertThat(isQuiet).isTrue();
    }
  }

  @Test
  void anInstanceWithoutRunsHearsOfARunThatAnotherInstanceStarts() {
    try (MigrationFixture desk = MigrationFixture.desk()) {
      desk.orders(100);
      TableMigrations idle = desk.start("idle");
      TableMigration run = desk.plan("orders", Optional.of("created_at"));
      awaitPolls(desk);

      desk.start(run);

      desk.await(() -> desk.now(run).status().state() == RunState.DONE);
      idle.close();
      desk.requireOrderedKeys();
    }
  }

  /** Whether nobody wants the runs for some polls of the change feed. */
  private static boolean isQuiet(MigrationFixture fixture) {
    try (TestSession locker =
        fixture.gateway.on.sql().begin("lock table coatcheck.table_migration")) {
      awaitPolls(fixture);
      boolean isQuiet =
          locker.number(
                  "select count(*) from pg_locks where not granted and relation ="
                      + " 'coatcheck.table_migration'::regclass")
              == 0;
      locker.rollback();
      return isQuiet;
    }
  }

  private static void awaitPolls(MigrationFixture fixture) {
    MappingFixture gateway = fixture.gateway;
    AtomicInteger heard = new AtomicInteger();
    gateway.feed.onChange(ChangeKind.TYPE, heard::incrementAndGet);
    for (int poll = 1; poll <= POLLS; poll++) {
      int awaited = poll;
      String name = "poll" + (char) ('a' + TYPES.getAndIncrement());
      var _ = gateway.type(name, name, KeyKind.BIGINT);
      fixture.await(() -> heard.get() >= awaited);
    }
  }
}
