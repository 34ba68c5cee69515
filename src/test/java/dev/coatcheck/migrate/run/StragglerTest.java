package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.cluster.lease.FaultProxy.Trap;
import dev.coatcheck.migrate.journal.Asked;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.IOException;
import java.net.URI;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A writer whose rows our triggers don't see, as of a restore that disables them: between any two
 * statements of a run it inserts a row, and the application updates that row.
 */
class StragglerTest {
  private static final String ENABLE =
      """
      do $$ declare name text; begin
        for name in select tgname from pg_trigger
                     where tgrelid = 'orders'::regclass and not tgisinternal loop
          execute format('alter table orders enable always trigger %I', name);
        end loop;
      end $$\
      """;

  private final TestDatabase database = TestDatabase.empty();
  private FaultProxy proxy;

  @BeforeEach
  void listen() throws IOException {
    proxy = new FaultProxy(port());
  }

  @AfterEach
  void close() throws IOException {
    proxy.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "for no key update of t",
        "create unique index concurrently",
        "lock table \"public\".\"orders\" in access exclusive mode",
        "coalesce(max(t.\"id\"), 0)::bigint from \"public\"",
      })
  void aRowThatCameInWithoutAKeyGetsOneAndCanBeUpdatedAllTheTime(String statement) {
    try (MigrationFixture fixture = behindProxy();
        TestSession application = database.sql().session()) {
      fixture.orders(300);
      application.execute("alter table orders add column text text");
      TableMigration run = fixture.plan("orders", Optional.of("created_at"));
      fixture.set(run, throttleSettings -> MigrationFixture.rate(throttleSettings, 100));
      fixture.start(run);
      fixture.await(() -> fixture.now(run).progress().rowsDone() > 0);
      proxy.freezeAt(new Trap(statement, false, true));
      fixture.set(run, throttleSettings -> MigrationFixture.rate(throttleSettings, 0));
      fixture.await(proxy::isTrapped);

      straggle(application);
      application.execute("update orders set text = 'before' where id = 1001");
      proxy.freeze(false);
      while (fixture.now(run).status().state() == RunState.RUNNING) {
        application.execute("update orders set text = 'meanwhile' where id = 1001");
      }

      fixture.await(run, RunState.DONE);
      fixture.requireOrderedKeys();
      application.execute("update orders set text = 'after' where id = 1001");
    }
  }

  /** The row is locked when it is to be filled; who holds the lock can still write. */
  @Test
  void aRowThatCannotBeFilledLeavesNoCheckBehindAndARetryFillsIt() {
    try (MigrationFixture fixture = behindProxy();
        TestSession application = database.sql().session()) {
      fixture.orders(300);
      TableMigration run =
          fixture.startWith(throttleSettings -> MigrationFixture.rate(throttleSettings, 100));
      fixture.await(() -> fixture.now(run).progress().rowsDone() > 0);
      proxy.freezeAt(new Trap("create unique index concurrently", false, true));
      fixture.set(run, throttleSettings -> MigrationFixture.rate(throttleSettings, 0));
      fixture.await(proxy::isTrapped);
      straggle(application);
      proxy.freezeAt(new Trap("coalesce(max(t.\"id\"), 0)::bigint from \"public\"", false, true));
      proxy.freeze(false);
      fixture.await(proxy::isTrapped);
      application.begin("select from orders where id = 1001 for update");
      proxy.freeze(false);

      TableMigration failed = fixture.await(run, RunState.FAILED);

      assertThat(failed.status().reason().orElseThrow()).contains("ID 1001");
      assertThat(
              fixture.count(
                  "select count(*) from pg_constraint where conrelid = 'orders'::regclass"
                      + " and contype = 'c'"))
          .isZero();
      application.execute("update orders set created_at = now() where id = 1001");
      application.commit();
      MigrationFixture.done(fixture.migrations().retry(run.id(), Asked.by(MigrationFixture.ACTOR)));
      fixture.await(run, RunState.DONE);
      fixture.requireOrderedKeys();
    }
  }

  private static void straggle(TestSession restore) {
    restore.execute(
        "alter table orders disable trigger user", "insert into orders (id) values (1001)", ENABLE);
  }

  private MigrationFixture behindProxy() {
    String url = database.url().replace(":" + port() + "/", ":" + proxy.port() + "/");
    return MigrationFixture.on(new TestDatabase(url, database.user(), database.password()));
  }

  private int port() {
    return URI.create(database.url().substring("jdbc:".length())).getPort();
  }
}
