package dev.coatcheck.migrate.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PgBouncer;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TransactionPooler;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A run needs sessions of its own: a plan says so where it can't have them. */
class PoolerTest {
  private static final TestDatabase DATABASE = TestDatabase.empty();

  @TempDir static Path folder;

  @BeforeAll
  static void table() {
    DATABASE.sql().execute("create table public.orders (id bigserial primary key)");
  }

  /**
   * Nobody else asks anything, so that they may look like two sessions to who simply alternates.
   * Drivers behind a pooler are often told to prepare nothing; else a statement that was prepared
   * at another backend gives it away.
   */
  @ParameterizedTest
  @CsvSource({"2, ''", "4, ''", "2, ?prepareThreshold=0", "4, ?prepareThreshold=0"})
  void backendsThatAreTakenByTurnsAreTold(int backends, String parameters) {
    try (TransactionPooler pooler = new TransactionPooler(DATABASE, backends, true)) {
      TestDatabase database = pooler.database();
      DatabaseSettings settings =
          new DatabaseSettings(
              database.url() + parameters, database.user(), database.password(), 2);
      // A backend comes with each login.
      try (Session _ = Session.open(settings, "idle");
          Session _ = Session.open(settings, "idle")) {
        assertThat(PoolerStore.isBetween(settings)).isTrue();
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"1, false, false", "2, false, true", "2, true, false", "3, true, true"})
  void aPoolerInTransactionModeIsRefused(int backends, boolean goesRound, boolean isGateway) {
    try (TransactionPooler pooler = new TransactionPooler(DATABASE, backends, goesRound)) {
      assertThat(SourceFixture.refusals(inspect(pooler.database(), isGateway)))
          .containsExactly("pooled_connection");
    }
  }

  @ParameterizedTest
  @CsvSource({"1, false, true", "2, true, false", "3, true, false", "5, false, true"})
  void aPgBouncerInTransactionModeIsRefused(int backends, boolean goesRound, boolean isGateway)
      throws IOException {
    requirePgBouncer();
    try (PgBouncer pooler =
        PgBouncer.start(folder, DATABASE, "transaction", backends, goesRound, true)) {
      assertThat(SourceFixture.refusals(inspect(pooler.database(), isGateway)))
          .containsExactly("pooled_connection");
    }
  }

  /** The search path of a run's sessions keeps out the code of others. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aPgBouncerThatDropsOrRefusesTheSettingsOfASessionIsRefused(boolean takesOptions)
      throws IOException {
    requirePgBouncer();
    try (PgBouncer pooler = PgBouncer.start(folder, DATABASE, "session", 8, false, takesOptions)) {
      assertThat(SourceFixture.refusals(inspect(pooler.database(), false)))
          .containsExactly("pooled_connection");
    }
  }

  @Test
  void postgresItselfIsNone() {
    assertThat(inspect(DATABASE, false)).isInstanceOf(TableSurvey.Outcome.Sound.class);
  }

  private static void requirePgBouncer() {
    assumeTrue(
        PgBouncer.program().isPresent(),
        "pgbouncer is not installed, nor named by COATCHECK_TEST_PGBOUNCER");
  }

  private static TableSurvey.Outcome inspect(TestDatabase database, boolean isGateway) {
    DatabaseSettings settings =
        new DatabaseSettings(database.url(), database.user(), database.password(), 2);
    try (Database pool = Database.openPinned(settings, "pooled", new Observer())) {
      return new TableSurvey(System::nanoTime)
          .inspect(
              new Source("shop", settings, pool, isGateway, WatchTimeouts.DEFAULT),
              SourceFixture.wish("orders"));
    }
  }
}
