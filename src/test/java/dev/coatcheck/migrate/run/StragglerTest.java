package dev.coatcheck.migrate.run;

import dev.coatcheck.cluster.lease.FaultProxy.Trap;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.TestSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A writer whose rows our triggers don't see, as of a restore that disables them: between any two
 * statements of a run it inserts a row, and the application updates that row.
 */
@Tag("faults")
class StragglerTest {
  @RegisterExtension
  final MigrationFixture fixture = MigrationFixture.behindProxy(WatchTimeouts.DEFAULT);

  private static final String ENABLE =
      """
      do $$ declare name text; begin
        for name in select tgname from pg_trigger
                     where tgrelid = 'orders'::regclass and not tgisinternal loop
          execute format('alter table orders enable always trigger %I', name);
        end loop;
      end $$\
      """;

  @Test
  void aRowThatCameInWithoutAKeyGetsOneAndCanBeUpdatedAllTheTime() {
    requireFilled("create unique index concurrently");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "for no key update of t",
        "lock table \"public\".\"orders\" in access exclusive mode",
        "coalesce(max(t.\"id\"), 0)::bigint from \"public\"",
      })
  void soDoesOneThatCameAtAnyOtherTime(String statement) {
    requireFilled(statement);
  }

  private void requireFilled(String statement) {
    try (TestSession application = fixture.sql().session()) {
      fixture.orders(300);
      application.execute("alter table orders add column text text");
      TableMigration run = fixture.startInTheMiddle(100);
      fixture.proxy().freezeAt(new Trap(statement, false, true));
      fixture.rate(run, 0);
      fixture.await(fixture.proxy()::isTrapped);

      straggle(application);
      application.execute("update orders set text = 'before' where id = 1001");
      fixture.proxy().freeze(false);
      while (fixture.now(run).status().state() == RunState.RUNNING) {
        application.execute("update orders set text = 'meanwhile' where id = 1001");
      }

      fixture.await(run, RunState.DONE);
      fixture.requireOrderedKeys();
      application.execute("update orders set text = 'after' where id = 1001");
    }
  }

  private static void straggle(TestSession restore) {
    restore.execute(
        "alter table orders disable trigger user", "insert into orders (id) values (1001)", ENABLE);
  }
}
