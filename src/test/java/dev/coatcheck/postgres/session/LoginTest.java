package dev.coatcheck.postgres.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class LoginTest {
  private static final TestDatabase DATABASE = TestDatabase.fresh();
  private static final String NAME = "slow login";
  private static final Duration SLOW = Duration.ofMillis(600);

  /** With some time to tell it. */
  private static final Duration LOGIN_MAX = Duration.ofMillis(1_200);

  @Test
  void aServerThatIsSlowToLetARequestInAndThenSilentTakesOneSecondInAll() throws Exception {
    try (MachineDelay delay = MachineDelay.measure();
        FaultProxy way = new FaultProxy(DATABASE.port())) {
      Login login = Login.ofRequest(DATABASE.behind(way.port()).settings(1), NAME);
      way.freezeAt(new FaultProxy.Trap(NAME, true, true));
      FutureTask<Duration> refused = new FutureTask<>(() -> refused(login));
      Thread.ofVirtual().start(refused);
      await().until(way::isTrapped);
      Thread.sleep(SLOW);
      way.freezeAt(new FaultProxy.Trap("synchronous_commit", false, true));
      way.freeze(false);

      Duration took = refused.get();

      delay.requireWithin(LOGIN_MAX, took);
      delay.requireTimely();
      assertThat(way.isTrapped()).as("the login ended before its time was over").isTrue();
    }
  }

  /** How long it took until the login was given up. */
  private static Duration refused(Login login) {
    long begunNano = System.nanoTime();
    assertThatThrownBy(login::connect).isInstanceOf(DatabaseUnavailable.class);
    return Duration.ofNanos(System.nanoTime() - begunNano);
  }
}
