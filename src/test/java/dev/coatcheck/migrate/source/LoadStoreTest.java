package dev.coatcheck.migrate.source;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The load of a source is that of its own database. */
class LoadStoreTest {
  private static final String LOCK = "lock table coatcheck.type in share update exclusive mode";

  @RegisterExtension static final MigrationFixture fixture = MigrationFixture.beside();

  /** Databases that were made from one template have tables with the same OIDs. */
  @Test
  void whoWaitsInACopyOfTheDatabaseDoesNotCount() {
    Target target = fixture.target(new TableName("coatcheck", "type"), "type_id", Optional.empty());
    LoadStore load = new LoadStore(fixture.source, target, System::nanoTime);
    TestDatabase copy = TestDatabase.fresh();
    assertThat(copy.sql().number("select 'coatcheck.type'::regclass::oid")).isEqualTo(target.oid());
    try (TestSession held = copy.sql().begin(LOCK);
        TestSession waiting = copy.sql().session()) {
      CompletableFuture<Void> locked =
          CompletableFuture.runAsync(() -> waiting.begin(LOCK), Thread::startVirtualThread);
      fixture.await(
          () ->
              copy.sql()
                      .number(
                          "select count(*) from pg_locks where not granted"
                              + " and relation = 'coatcheck.type'::regclass")
                  > 0);

      assertThat(load.load().lockWaits()).isZero();

      held.commit();
      locked.join();
    }
  }
}
