package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.embedded.SmallDisk;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import dev.coatcheck.postgres.sql.TestSql;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The disk of the source is full in the middle of a run. */
class DiskFullTest {
  private static final int ROWS = 20_000;
  private static final String DISK_FULL = "53100";

  private final Set<Long> acknowledged = ConcurrentHashMap.newKeySet();
  private final Queue<String> errors = new ConcurrentLinkedQueue<>();
  private final AtomicInteger refused = new AtomicInteger();
  private volatile boolean stopped;

  @Test
  @Tag("faults")
  void aRunSaysThatTheDiskIsFullAndGoesOnOnceThereIsSpace() throws Exception {
    try (SmallDisk disk = SmallDisk.mount(64);
        TestHome home = TestHome.fresh();
        EmbeddedDatabase server = EmbeddedDatabase.start(home.path())) {
      try (MigrationFixture fixture = MigrationFixture.on(on(disk, server))) {
        fixture.orders(ROWS);
        fixture.execute("alter table orders add column text text");
        Thread application = Thread.ofPlatform().start(() -> write(fixture));
        TableMigration run = fixture.startInTheMiddle(500);

        disk.fill();
        fixture.rate(run, 0);
        fixture.await(
            () ->
                fixture
                    .now(run)
                    .status()
                    .reason()
                    .filter(why -> why.contains("No space left on device"))
                    .isPresent());
        fixture.await(() -> refused.get() > 100);
        assertThat(fixture.now(run).status().state())
            .as("it waits and goes on by itself")
            .isEqualTo(RunState.RUNNING);

        disk.free();
        int before = acknowledged.size();
        fixture.await(() -> acknowledged.size() > before + 1_000);
        fixture.await(run, RunState.DONE);
        stopped = true;
        application.join();

        assertThat(errors).isEmpty();
        fixture.requireOrderedKeys();
        assertThat(fixture.column("select id from orders where id > " + ROWS))
            .containsExactlyInAnyOrderElementsOf(acknowledged);
        fixture.awaitDelivered(run);
      }
    }
  }

  /** Its tables and indexes and ours, but not the WAL: a server without that ends itself. */
  private static TestDatabase on(SmallDisk disk, EmbeddedDatabase server) throws Exception {
    TestSql.on(server)
        .execute(
            "create tablespace small location '%s'".formatted(disk.folder("tables")),
            "create database shop tablespace small");
    return new TestDatabase(
        server.jdbcUrl().replaceAll("/[^/]+$", "/shop"), server.user(), server.password());
  }

  private void write(MigrationFixture fixture) {
    try (TestSession session = fixture.sql().session()) {
      for (int n = 0; !stopped; n++) {
        try {
          acknowledged.add(session.number("insert into orders (text) values ('new') returning id"));
          session.execute("update orders set text = 'changed' where id = " + (1 + n % ROWS));
        } catch (AssertionError full) {
          if (!DISK_FULL.equals(TestSession.sqlState(full))) {
            throw full;
          }
          refused.incrementAndGet();
        }
      }
    } catch (AssertionError broken) {
      errors.add(broken.toString());
    }
  }
}
