package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.migrate.run.LeaseTable.Claim;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The lease of a runner ends by the clock that it is given. */
class HeartbeatTest {
  @RegisterExtension final MigrationFixture fixture = MigrationFixture.beside();
  private final Database gateway = fixture.gateway.database;
  private final LeaseTable leases = new LeaseTable(gateway, "one");
  private final AtomicLong nano = new AtomicLong(Long.MAX_VALUE - 1);
  private TableMigration run;
  private Claim claim;

  @BeforeEach
  void claim() {
    fixture.orders(10);
    run = fixture.plan();
    fixture.migrations().close();
    fixture.start(run);
    claim = leases.claim(List.of(Sources.GATEWAY), Heartbeat.LEASE_MILLIS).orElseThrow();
  }

  @Test
  void aRunnerThatHearsNothingForALeaseStopsUntilTheLeaseIsRenewed() {
    try (Heartbeat heartbeat = start()) {
      synchronized (heartbeat) { // no beat meanwhile
        nano.addAndGet(TimeUnit.MILLISECONDS.toNanos(Heartbeat.LEASE_MILLIS) - 1);
        assertThat(heartbeat.isMine()).isTrue();
        nano.incrementAndGet();

        assertThat(heartbeat.isMine()).isFalse();
        assertThatThrownBy(heartbeat::requireMine).isInstanceOf(Heartbeat.Stopped.class);
        assertThatThrownBy(() -> heartbeat.pause(1)).isInstanceOf(Heartbeat.Stopped.class);
        heartbeat.beat();
        assertThat(heartbeat.isMine()).isTrue();
      }
    }
  }

  @Test
  void aRunnerWhoseRunAnotherRunnerHasClaimedStopsForGood() {
    try (Heartbeat heartbeat = start()) {
      leases.release(claim);
      assertThat(new LeaseTable(gateway, "two").claim(List.of(Sources.GATEWAY), 60_000))
          .contains(new Claim(claim.id(), claim.fence() + 1));
      heartbeat.beat();

      assertThat(heartbeat.isMine()).isFalse();
      heartbeat.beat();
      assertThat(heartbeat.isMine()).isFalse();
    }
  }

  @Test
  void aRunnerWhoseRunHasAnotherGoalStops() {
    try (Heartbeat heartbeat = start()) {
      fixture
          .gateway
          .on
          .sql()
          .execute("update coatcheck.table_migration set goal = '" + Goal.SWITCH.wireName() + "'");
      heartbeat.beat();

      assertThat(heartbeat.isMine()).isFalse();
    }
  }

  private Heartbeat start() {
    return new Heartbeat(leases, claim, run, new Observer(), nano::get);
  }
}
