package dev.coatcheck.migrate.steps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What runs as the owner of a table runs nothing that a writer of the table brought along. */
class OwnerRightsTest {
  private static final String WRITER = "writer_" + Long.toHexString(System.nanoTime());

  /**
   * The table's own trigger names its log without a schema. Where a freed legacy ID gets its old
   * key back, that trigger runs as the owner, and a temporary table would be found before the log.
   */
  @Test
  void aTemporaryTableOfAWriterIsNotTakenForTheLogOfTheOwner() throws Exception {
    try (MigrationFixture fixture = MigrationFixture.beside()) {
      fixture.execute(
          "create table orders (id bigserial primary key, text text)",
          "create table log (id bigint)",
          """
          create function log_it() returns trigger language plpgsql
            as 'begin insert into log values (new.id); return null; end'
          """,
          "create trigger log_it after update on orders for each row execute function log_it()",
          "create role " + WRITER,
          "grant usage on schema public to " + WRITER,
          "grant select, insert, delete on orders to " + WRITER);
      Target target = fixture.target(Optional.empty());
      fixture.apply(target, Phase.EXPAND);
      fixture.execute("insert into orders (id) values (7)");
      try (TestSession deleting = fixture.sql().session();
          TestSession inserting = fixture.sql().session()) {
        inserting.execute(
            "set role " + WRITER,
            "create temp table mark (who text)",
            "create temp table log (id bigint)",
            """
            create function pg_temp.spring() returns trigger language plpgsql
              as 'begin insert into pg_temp.mark values (current_user); return null; end'
            """,
            "create trigger spring after insert on pg_temp.log"
                + " for each row execute function pg_temp.spring()",
            "grant all on pg_temp.log, pg_temp.mark to public");
        deleting.execute("set role " + WRITER).begin("delete from orders where id = 7");
        CompletableFuture<Void> inserted =
            CompletableFuture.runAsync(
                () -> inserting.execute("insert into orders (id) values (7)"),
                Thread::startVirtualThread);
        Awaitility.await().until(() -> waits(fixture));
        deleting.commit();
        inserted.join();

        assertThat(fixture.column("select id from log")).as("the key came back").containsOnly(7L);
        assertThat(inserting.texts("select who from pg_temp.mark"))
            .as("ran as another user")
            .isEmpty();
      } finally {
        fixture.execute("drop owned by " + WRITER, "drop role " + WRITER);
      }
    }
  }

  private static boolean waits(MigrationFixture fixture) {
    return fixture.count(
            "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                + " and datname = current_database() and query like 'insert into orders%'")
        > 0;
  }
}
