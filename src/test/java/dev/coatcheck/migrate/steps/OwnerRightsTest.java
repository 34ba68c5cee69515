package dev.coatcheck.migrate.steps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.source.Target;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
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
    try (RekeyFixture fixture = new RekeyFixture(true)) {
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
      try (Connection deleting = fixture.connect();
          Connection inserting = fixture.connect();
          Statement delete = deleting.createStatement();
          Statement insert = inserting.createStatement()) {
        delete.execute("set role " + WRITER);
        insert.execute("set role " + WRITER);
        insert.execute("create temp table mark (who text)");
        insert.execute("create temp table log (id bigint)");
        insert.execute(
            """
            create function pg_temp.spring() returns trigger language plpgsql
              as 'begin insert into pg_temp.mark values (current_user); return null; end'
            """);
        insert.execute(
            "create trigger spring after insert on pg_temp.log"
                + " for each row execute function pg_temp.spring()");
        insert.execute("grant all on pg_temp.log, pg_temp.mark to public");
        deleting.setAutoCommit(false);
        delete.execute("delete from orders where id = 7");
        CompletableFuture<Void> inserted =
            CompletableFuture.runAsync(
                () -> {
                  try {
                    insert.execute("insert into orders (id) values (7)");
                  } catch (SQLException failed) {
                    throw new AssertionError(failed);
                  }
                },
                Thread::startVirtualThread);
        Awaitility.await().until(() -> waits(fixture));
        deleting.commit();
        inserted.join();

        assertThat(fixture.column("select id from log")).as("the key came back").containsOnly(7L);
        try (var marks = insert.executeQuery("select who from pg_temp.mark")) {
          assertThat(marks.next()).as("ran as another user").isFalse();
        }
      } finally {
        fixture.execute("drop owned by " + WRITER, "drop role " + WRITER);
      }
    }
  }

  private static boolean waits(RekeyFixture fixture) {
    return fixture.count(
            "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                + " and datname = current_database() and query like 'insert into orders%'")
        > 0;
  }
}
