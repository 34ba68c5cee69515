package dev.coatcheck.api.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.server.Permits.Share;
import dev.coatcheck.ids.access.Scope;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PermitsTest {
  private static final int ALL = 512;

  private final Permits permits = new Permits(ALL);

  @Test
  void aQuarterIsForRedirectsAndResolvesAndAQuarterForMints() {
    assertSharesAreWhole();
  }

  private void assertSharesAreWhole() {
    assertThat(takeAll(Share.OTHERS)).hasSize(ALL / 2);
    assertThat(takeAll(Share.MINTS)).hasSize(ALL / 4);
    assertThat(takeAll(Share.RESOLVES)).hasSize(ALL / 4);
  }

  @Test
  void whatIsNotReservedIsForEverybody() {
    assertThat(takeAll(Share.RESOLVES)).hasSize(ALL * 3 / 4);
    assertThat(takeAll(Share.OTHERS)).isEmpty();
    assertThat(takeAll(Share.MINTS)).hasSize(ALL / 4);
  }

  @Test
  void oneApiKeyHoldsAtMostHalf() {
    Deque<Permits.Permit> taken = takeAll(Share.MINTS);

    assertThat(taken.stream().filter(permit -> permit.claim("greedy"))).hasSize(ALL / 2);
    assertThat(permits.enter(Share.RESOLVES).orElseThrow().claim("greedy")).isFalse();
    assertThat(permits.enter(Share.RESOLVES).orElseThrow().claim("modest")).isTrue();
  }

  /** A request that is handed over gives its permit back, and again when it ends. */
  @Test
  void aPermitThatIsGivenBackTwiceIsOne() {
    Deque<Permits.Permit> taken = takeAll(Share.MINTS);
    taken.forEach(permit -> permit.claim("key"));
    taken.forEach(Permits.Permit::close);
    taken.forEach(Permits.Permit::close);

    assertSharesAreWhole();
  }

  @Test
  void whatIsGivenBackIsWholeAgain() {
    for (int round = 0; round < 3; round++) {
      for (Share share : Share.values()) {
        Deque<Permits.Permit> taken = takeAll(share);
        long claimed = taken.stream().filter(permit -> permit.claim("key")).count();
        assertThat(claimed).isEqualTo(ALL / 2);
        taken.forEach(Permits.Permit::close);
      }
    }
    assertSharesAreWhole();
  }

  @Test
  void theScopeSaysWhoseShareARequestHas() {
    assertThat(Share.of(Scope.IDS_READ)).isEqualTo(Share.RESOLVES);
    assertThat(Share.of(Scope.IDS_WRITE)).isEqualTo(Share.MINTS);
    assertThat(Share.of(Scope.TABLE_MIGRATIONS_WRITE)).isEqualTo(Share.OTHERS);
  }

  private Deque<Permits.Permit> takeAll(Share share) {
    Deque<Permits.Permit> taken = new ArrayDeque<>();
    for (Optional<Permits.Permit> next = permits.enter(share);
        next.isPresent();
        next = permits.enter(share)) {
      taken.add(next.get());
    }
    return taken;
  }
}
