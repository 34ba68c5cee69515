package dev.coatcheck.migrate.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.Breakage;
import dev.coatcheck.BrokenBy;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.postgres.sql.TestSession;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class NumberSourceTest {
  private static final long LOAD_NANOS = Duration.ofSeconds(2).toNanos();
  private static final long DEFECT_NANOS_MAX = Duration.ofSeconds(30).toNanos();

  /** More than this are sure to come, on a slow machine after a while. */
  private static final int ROWS_MIN = 5_000;

  private static final Duration CLOCK_STEP_MAX = Duration.ofSeconds(3);

  @Test
  @BrokenBy({"cache-32", "lock-left-out"})
  void noKeyComesTwiceWhateverHappensToClockAndStatements() throws SQLException {
    long seed = ThreadLocalRandom.current().nextLong();
    System.out.println("seed " + seed);
    try (MigrationFixture fixture = MigrationFixture.apart()) {
      install(fixture);
      Instant before = Instant.now();
      NumberLoad load = new NumberLoad(fixture, seed);
      long start = System.nanoTime();

      long locks = load.run(() -> isEnough(fixture, System.nanoTime() - start));

      List<Long> keys = fixture.column("select snowflake_id from orders");
      System.out.println(keys.size() + " keys");
      assertThat(keys.size() - new HashSet<>(keys).size()).as("keys that came twice").isZero();
      assertThat(load.errors()).isEmpty();
      assertThat(locks).as("advisory locks").isZero();
      Instant earliest = before.minus(CLOCK_STEP_MAX);
      Instant latest = Instant.now().plus(CLOCK_STEP_MAX);
      assertThat(keys)
          .allSatisfy(
              key -> {
                assertThat(SnowflakeLayout.DEFAULT.workerOf(key))
                    .isEqualTo(WorkerUses.NUMBER_SOURCE);
                assertThat(SnowflakeLayout.DEFAULT.timeOf(key)).isBetween(earliest, latest);
              });
    }
  }

  /** With a defect on, the load goes on until it is found, or for much longer than that takes. */
  private static boolean isEnough(MigrationFixture fixture, long nanos) {
    if (nanos < LOAD_NANOS || fixture.count("select count(*) from orders") < ROWS_MIN) {
      return false;
    }
    return Breakage.current().isEmpty()
        || nanos > DEFECT_NANOS_MAX
        || fixture.count("select count(*) - count(distinct snowflake_id) from orders") > 0;
  }

  @TestFactory
  @Tag("faults")
  Stream<DynamicTest> theLoadFindsWhatItIsFor() {
    return Breakage.requireRed(this);
  }

  @Test
  void theLockIsGoneBeforeTheTransactionEnds() {
    try (MigrationFixture fixture = MigrationFixture.apart()) {
      install(fixture);
      try (TestSession writer = fixture.sql().begin()) {
        for (int insert = 0; insert < 5; insert++) {
          writer.execute("select setval('clock_step', %d)".formatted(insert * 1_000));
          writer.execute("insert into orders (text) values ('old value')");
          assertThat(
                  fixture.count(
                      "select count(*) from pg_locks where locktype = 'advisory' and pid = "
                          + writer.pid()))
              .isZero();
        }
        writer.commit();
      }
    }
  }

  @Test
  void afterTheLastNumberOfAMillisecondComesTheNextMillisecond() {
    try (MigrationFixture fixture = MigrationFixture.apart()) {
      TargetSql names = new TargetSql(install(fixture));
      long millis =
          Instant.now().plusSeconds(10).toEpochMilli() - SnowflakeLayout.DEFAULT.epochMillis();

      fixture.execute(names.fill("select setval('<mint_seq>', %d)".formatted(millis << 22 | 4094)));
      fixture.execute("insert into orders (text) select 'text' from generate_series(1, 3)");

      long worker = WorkerUses.NUMBER_SOURCE << 12;
      assertThat(fixture.column("select snowflake_id from orders order by id"))
          .containsExactly(
              millis << 22 | worker | 4095,
              (millis + 1) << 22 | worker,
              (millis + 1) << 22 | worker | 1);
    }
  }

  /** The steps as they are, but for the clock, and for the defect that is switched on. */
  private static Target install(MigrationFixture fixture) {
    fixture.execute(
        "create table orders (id bigserial primary key, text text)",
        "create sequence clock_step minvalue -1000000 start 0",
        """
        create function stepping_clock() returns timestamptz language sql volatile as
          'select clock_timestamp() + make_interval(secs => last_value / 1000.0)
             from public.clock_step'\
        """);
    Target target = fixture.target(MigrationFixture.createdAt().filter(_ -> false));
    fixture.apply(target, Phase.EXPAND);
    TargetSql names = new TargetSql(target, "public.stepping_clock()");
    String function =
        Steps.NUMBER_SOURCE.text().replace("create function", "create or replace function");
    switch (Breakage.current()) {
      case "cache-32" -> fixture.execute(names.fill("alter sequence <mint_seq> cache 32"));
      case "lock-left-out" ->
          function =
              function
                  .replace("perform pg_advisory_xact_lock(<lock_class>, <lock_table>)", "null")
                  .replace("not pg_try_advisory_xact_lock(<lock_class>, <lock_table>)", "false");
      default -> {}
    }
    fixture.execute(names.fill(function));
    return target;
  }
}
