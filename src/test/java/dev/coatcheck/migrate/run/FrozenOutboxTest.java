package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.lease.FaultProxy.Trap;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.mapping.Lookup;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.migrate.relay.ActiveTables;
import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.relay.OutboxRelay;
import dev.coatcheck.migrate.relay.ReadThrough;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** The network to the source swallows everything while an entry of the outbox is brought. */
@Tag("faults")
class FrozenOutboxTest {
  private static final long FROZEN_NANOS = TimeUnit.SECONDS.toNanos(8);

  /** Each statement of a drain: it does or doesn't arrive at the server. */
  @ParameterizedTest
  @CsvSource({
    "idle_in_transaction_session_timeout, false",
    "idle_in_transaction_session_timeout, true",
    "for update skip locked, false",
    "for update skip locked, true",
    "COMMIT, false",
    "COMMIT, true"
  })
  void aDrainThatIsFrozenForEightSecondsBringsItsEntryOnce(String statement, boolean isPassedOn) {
    try (Frozen frozen = new Frozen(new Trap(statement, isPassedOn, true))) {
      long until = System.nanoTime() + FROZEN_NANOS;
      frozen.lookUpWhile(() -> System.nanoTime() < until);
      frozen.fixture.proxy().freeze(false);

      frozen.lookUpWhile(() -> frozen.entries() > 0);
      frozen.requireBroughtOnce();
    }
  }

  /** Its connection says nothing any more, not even that it has ended; all others go on. */
  @Test
  void theServerEndsADrainWhoseClientItHearsNothingOf() {
    try (Frozen frozen = new Frozen(new Trap("for update skip locked", true, false))) {
      frozen.fixture.await(() -> frozen.drains("idle in transaction") == 1);
      frozen.lookUpWhile(() -> frozen.entries() > 0);

      frozen.requireBroughtOnce();
    }
  }

  /** What would end such a session by itself may fail. */
  @ParameterizedTest
  @EnumSource(names = "RUNNER", mode = Mode.EXCLUDE)
  void theSwitchEndsWhatHasStoodStill(SourceSession.Name name) {
    try (MigrationFixture fixture = MigrationFixture.apart();
        TestSession still = fixture.sql().session()) {
      fixture.orders(10);
      TableMigration run = fixture.run();
      fixture.migrations().close();
      fixture.execute("insert into orders default values");
      TargetSql names = new TargetSql(run.target());
      still.begin("set local application_name = '%s'".formatted(name.of(run.target())));
      switch (name) {
        case OUTBOX ->
            still.execute(
                names.fill("delete from <outbox_a>"), names.fill("delete from <outbox_b>"));
        case LOOK_UP -> still.execute("select from orders for update");
        case FUNCTIONS ->
            still.execute(
                names.fill(
                    "select pg_advisory_xact_lock(<lock_class_of_functions>, <lock_table>)"));
        case RUNNER -> throw new AssertionError(name);
      }
      // Its verification waits for the entries of the outbox.
      fixture
          .gateway
          .on
          .sql()
          .execute("update coatcheck.table_migration_step set changed_at = now() - interval '2h'");
      fixture.await(
          () ->
              fixture.count(
                      "select count(*) from pg_stat_activity where application_name = '%s'"
                              .formatted(name.of(run.target()))
                          + " and xact_start < clock_timestamp() - interval '2 s'")
                  == 1);

      try (TableMigrations second = fixture.start("two")) {
        MigrationFixture.done(
            second.switchWithin(
                run.id(), SwitchWindow.ANY_TIME, ActionRequest.by(MigrationFixture.ACTOR)));
        fixture.await(
            () ->
                second.journal().events(run.id(), 0).stream()
                    .anyMatch(event -> event.kind().equals("switched")));
      }
    }
  }

  /** A relay that is frozen in the drain of one row, and look-ups of its key. */
  private static final class Frozen implements AutoCloseable {
    private final MigrationFixture fixture = MigrationFixture.behindProxy(WatchTimeouts.DEFAULT);
    private final Target target;
    private final long key;
    private final Lookup lookup;
    private final OutboxRelay relay;
    private final ScheduledExecutorService rounds = Executors.newSingleThreadScheduledExecutor();

    Frozen(Trap trap) {
      fixture.execute("create table orders (id bigserial primary key)");
      target = fixture.target(Optional.empty());
      fixture.apply(target, Phase.EXPAND);
      ActiveTables active =
          new ActiveTables(
              () ->
                  List.of(
                      new ActiveTable(
                          1,
                          MigrationFixture.OTHER,
                          target,
                          fixture.type.number(),
                          true,
                          true,
                          false)));
      active.refresh();
      lookup =
          new Lookup(
              fixture.gateway.database,
              Optional.empty(),
              new ReadThrough(active, fixture.sources(), fixture.gatewayMappings()),
              fixture.gateway.sealedRows);
      relay =
          new OutboxRelay(
              fixture.gatewayMappings(),
              fixture.sources(),
              (_, refused) -> {
                throw new AssertionError(refused);
              },
              System::nanoTime);
      fixture.execute("insert into orders default values");
      key = fixture.count("select snowflake_id from orders");
      fixture.proxy().freezeAt(trap);
      var _ =
          rounds.scheduleWithFixedDelay(() -> relay.follow(active), 0, 100, TimeUnit.MILLISECONDS);
      fixture.await(fixture.proxy()::isTrapped);
    }

    long entries() {
      return fixture.count(
          new TargetSql(target)
              .fill(
                  "select (select count(*) from <outbox_a>) + (select count(*) from <outbox_b>)"));
    }

    long drains(String state) {
      return fixture.count(
          "select count(*) from pg_stat_activity where application_name = '%s' and state = '%s'"
              .formatted(SourceSession.Name.OUTBOX.of(target), state));
    }

    /** As requests do; 503 is an answer, and 404 is none. */
    void lookUpWhile(BooleanSupplier goOn) {
      fixture.await(
          () -> {
            try {
              assertThat(lookUp()).isPresent();
            } catch (DatabaseUnavailable late) {
              // The client asks again.
            }
            return !goOn.getAsBoolean();
          });
    }

    private Optional<Mapping> lookUp() {
      return Deadline.ofAnswer().call(() -> lookup.find(fixture.type, new Key.Bigint(key)));
    }

    void requireBroughtOnce() {
      assertThat(lookUp()).isPresent();
      assertThat(fixture.gateway.on.sql().numbers("select key from coatcheck.public_id"))
          .containsExactly(key);
      assertThat(fixture.aliases()).isEqualTo(1);
    }

    @Override
    public void close() {
      rounds.shutdownNow();
      fixture.proxy().freeze(false);
      relay.close();
      fixture.close();
    }
  }
}
