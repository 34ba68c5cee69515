package dev.coatcheck.bench.baseline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.bench.load.LoadResult;
import dev.coatcheck.bench.machine.MeasureFailed;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.time.Duration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** pgbench, JDBC and COPY on the rows of the measures. */
class PostgresBaselinesTest {
  private static final Duration SHORT = Duration.ofMillis(200);
  private static final int ROWS = 1_000;

  private static final String OUTPUT =
      """
      pgbench (15.14 (Debian 15.14-0+deb12u1), server 18.0)
      transaction type: select.sql
      scaling factor: 1
      query mode: prepared
      number of clients: 8
      number of threads: 1
      maximum number of tries: 1
      duration: 2 s
      number of transactions actually processed: 40000
      number of failed transactions: 0 (0.000%)
      latency average = 0.399 ms
      initial connection time = 12.345 ms
      tps = 20000.000000 (without initial connection time)
      """;

  private static TestDatabase withType() {
    TestDatabase database = TestDatabase.fresh();
    database
        .sql()
        .execute(
            "insert into coatcheck.type (name, prefix, key_kind, generate, layout, salt) values"
                + " ('bench', 'bench', 'bigint', 'snowflake', 'default',"
                + " uuid_send(gen_random_uuid()))");
    return database;
  }

  @Test
  void theFiguresOfPgbenchAreRead() {
    assertThat(Pgbench.parse(OUTPUT)).isEqualTo(LoadResult.of(40_000, 2));
  }

  @Test
  void failedTransactionsAndOtherOutputsAreErrorsThatShowIt() {
    assertThatThrownBy(
            () -> Pgbench.parse(OUTPUT.replace("transactions: 0 (", "transactions: 3 (")))
        .isInstanceOf(MeasureFailed.class)
        .hasMessageContaining("transactions of pgbench failed");
    assertThatThrownBy(() -> Pgbench.parse("pgbench: error: connection refused"))
        .isInstanceOf(MeasureFailed.class)
        .hasMessageContaining("connection refused");
    assertThatThrownBy(() -> Pgbench.parse(OUTPUT.replace("processed: 40000", "processed: 0")))
        .isInstanceOf(MeasureFailed.class);
  }

  @Test
  void aRunThatHadNoTimeIsRunAgain() {
    String nothing = OUTPUT.replace("processed: 40000", "processed: 0");
    Iterator<String> runs = List.of(nothing, nothing, OUTPUT).iterator();

    assertThat(Pgbench.firstResult(runs::next)).isEqualTo(LoadResult.of(40_000, 2));
    assertThatThrownBy(() -> Pgbench.firstResult(() -> nothing)).isInstanceOf(MeasureFailed.class);
  }

  @Test
  void everyNumberHasATokenOfItsOwnThatIsInTheTable() {
    TestDatabase database = withType();
    try (PostgresBaselines postgres = new PostgresBaselines(database.settings(2), ROWS)) {
      postgres.fill("bench");
      TestSql sql = database.sql();
      Set<Token> tokens = new HashSet<>();
      for (int i = 0; i < ROWS; i++) {
        tokens.add(NumberedRows.token(i));
      }

      assertThat(tokens).hasSize(ROWS);
      assertThat(sql.text("select count(*)::text from coatcheck.public_id")).isEqualTo("1000");
      assertThat(sql.text("select count(*)::text from coatcheck.bench_row")).isEqualTo("1000");
      for (int i : new int[] {0, 1, 999}) {
        Token token = NumberedRows.token(i);
        assertThat(
                sql.text(
                    "select count(*)::text from coatcheck.public_id where bucket = "
                        + token.bucket()
                        + " and token = '"
                        + token.toUuid()
                        + "'"))
            .isEqualTo("1");
      }
    }
    assertThat(database.sql().text("select to_regclass('coatcheck.bench_row')")).isNull();
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void readsAndWritesOfTheBaselinesDoWhatTheyCount() {
    assumeTrue(PostgresBaselines.hasPgbench(), "pgbench is not installed");
    TestDatabase database = withType();
    try (PostgresBaselines postgres = new PostgresBaselines(database.settings(2), ROWS)) {
      postgres.fill("bench");

      assertThat(postgres.selects(2, SHORT).served()).isPositive();
      assertThat(postgres.pooledSelects(4, 2, Duration.ofSeconds(1), 50).served()).isEqualTo(50);
      long inserted = postgres.inserts(2, SHORT).served();
      long copied = postgres.copy(SHORT).served();

      assertThat(inserted).isPositive();
      assertThat(copied).isPositive();
      assertThat(database.sql().text("select count(*)::text from coatcheck.bench_row"))
          .isEqualTo(Long.toString(ROWS + inserted + copied));
      assertThat(postgres.cpu().micros()).isPresent();
    }
  }

  /** The statement of pgbench's script finds the row; pgbench itself doesn't look. */
  @Test
  @Tag("faults")
  @Tag("alone")
  void theScriptOfPgbenchAsksForRowsThatAreThere() {
    TestDatabase database = withType();
    try (PostgresBaselines postgres = new PostgresBaselines(database.settings(2), ROWS)) {
      postgres.fill("bench");
      long n = NumberedRows.token(17).low() & 0xffff_ffffL;
      String select =
          NumberedRows.select(ROWS)
              .lines()
              .filter(line -> line.startsWith("select"))
              .findFirst()
              .orElseThrow()
              .replace(":bucket", Long.toString(n & 1023))
              .replace(":n::", n + "::")
              .replace(";", "");

      assertThat(database.sql().text("select count(*)::text from (" + select + ") found"))
          .isEqualTo("1");
    }
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void withoutPgbenchJdbcDoesTheSame() {
    TestDatabase database = withType();
    BaselineStore store = new BaselineStore(database.settings(2));
    store.fill("bench", ROWS);

    assertThat(store.selects(2, ROWS, SHORT).served()).isPositive();
    long inserted = store.repeats(PostgresBaselines.STATEMENT_OF_INSERT, 2, SHORT).served();

    assertThat(database.sql().text("select count(*)::text from coatcheck.bench_row"))
        .isEqualTo(Long.toString(ROWS + inserted));
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void aDatabaseInUseIsTold() {
    TestDatabase database = withType();
    BaselineStore store = new BaselineStore(database.settings(2));
    assertThat(store.holdsMappings()).isFalse();

    store.fill("bench", ROWS);

    assertThat(store.holdsMappings()).isTrue();
  }
}
