package dev.coatcheck.api.console.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.redirect.Visitor;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WrongKeysTest {
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5);
  private final WrongKeys wrongKeys = new WrongKeys(nanos::get);
  private final Visitor visitor = visitor("192.0.2.1");

  @Test
  void anAddressMayTryAgainAfterTheWindow() {
    for (int tried = 0; tried < WrongKeys.WRONG_MAX; tried++) {
      assertThat(wrongKeys.mayTry(visitor)).isTrue();
    }
    assertThat(wrongKeys.mayTry(visitor)).isFalse();
    assertThat(wrongKeys.mayTry(visitor("192.0.2.2"))).isTrue();

    nanos.addAndGet(TimeUnit.SECONDS.toNanos(WrongKeys.WINDOW_SECONDS));
    assertThat(wrongKeys.mayTry(visitor)).isTrue();
  }

  @Test
  void aRightKeyEndsTheCount() {
    for (int tried = 0; tried < 3 * WrongKeys.WRONG_MAX; tried++) {
      assertThat(wrongKeys.mayTry(visitor)).isTrue();
      wrongKeys.forget(visitor);
    }
  }

  private static Visitor visitor(String address) {
    return Visitor.at(InetAddress.ofLiteral(address));
  }
}
