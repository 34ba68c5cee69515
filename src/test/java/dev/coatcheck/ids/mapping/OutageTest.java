package dev.coatcheck.ids.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.registry.OnOutage;
import dev.coatcheck.ids.registry.PutConditions;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Cached public IDs while Postgres swallows everything and answers nothing. */
class OutageTest {
  @Test
  void aBlackHoledPostgresIsServedAsTheTypeSaysAndHealsByItself() throws Exception {
    TestDatabase real = TestDatabase.fresh();
    AtomicLong ahead = new AtomicLong();
    try (FaultProxy proxy = new FaultProxy(real.port());
        MappingFixture fixture =
            new MappingFixture(
                MappingFixture.generators(),
                real.behind(proxy.port()),
                () -> System.nanoTime() + ahead.get())) {
      String minute = minted(fixture, "minute", OnOutage.SERVE_STALE, 60);
      String moment = minted(fixture, "moment", OnOutage.SERVE_STALE, 20);
      String refusing = minted(fixture, "refusing", OnOutage.REFUSE, 60);
      Resolver resolver = fixture.resolver;
      assertThat(isInMemory(resolver, minute)).isTrue();
      Type ofMinute = fixture.registry.named("minute").orElseThrow();
      Alias alias = Alias.of(ofMinute, AliasScheme.LEGACY, "4711");
      fixture.mint(new MintRequest(ofMinute, Optional.empty(), List.of(alias)));
      resolver.resolveAlias(ofMinute, alias);

      proxy.freeze(true);
      ahead.addAndGet(Duration.ofSeconds(4).toNanos());
      assertThat(isInMemory(resolver, minute)).isFalse();
      assertThat(resolver.resolve(minute, AllowedTypes.ALL))
          .isInstanceOf(ResolveOutcome.Found.class);
      assertThat(resolver.resolve(moment, AllowedTypes.ALL))
          .isInstanceOf(ResolveOutcome.Found.class);
      assertThat(resolver.resolveAlias(ofMinute, alias)).isInstanceOf(ResolveOutcome.Found.class);
      assertRefused(resolver, refusing);

      ahead.addAndGet(Duration.ofSeconds(20).toNanos());
      assertThat(resolver.resolve(minute, AllowedTypes.ALL))
          .isInstanceOf(ResolveOutcome.Found.class);
      assertRefused(resolver, moment);

      ahead.addAndGet(Duration.ofSeconds(40).toNanos());
      assertRefused(resolver, minute);

      proxy.freeze(false);
      await().until(fixture.feed::isTrusted);
      for (String id : new String[] {minute, moment, refusing}) {
        await()
            .ignoreException(DatabaseUnavailable.class)
            .until(() -> resolver.resolve(id, AllowedTypes.ALL) instanceof ResolveOutcome.Found);
        await().until(() -> isInMemory(resolver, id));
      }
      assertThat(fixture.observer.scrape()).contains("coatcheck_feed_distrusts_total 1");
    }
  }

  private static boolean isInMemory(Resolver resolver, String id) {
    return new NonBlockingAttempt<>(() -> resolver.resolve(id, AllowedTypes.ALL)).run()
        instanceof NonBlockingAttempt.Outcome.Done;
  }

  private static void assertRefused(Resolver resolver, String id) {
    try (MachineDelay delay = MachineDelay.measure()) {
      long from = System.nanoTime();
      assertThatThrownBy(() -> resolver.resolve(id, AllowedTypes.ALL))
          .isInstanceOf(DatabaseUnavailable.class);
      delay.requireWithin(Duration.ofSeconds(1), Duration.ofNanos(System.nanoTime() - from));
    }
  }

  private static String minted(
      MappingFixture fixture, String name, OnOutage onOutage, int staleSecondsMax) {
    fixture.registry.put(
        TestType.of(name, name)
            .with("on_outage", onOutage.wireName())
            .with("stale_seconds_max", staleSecondsMax)
            .definition(),
        PutConditions.NONE,
        Actor.operator());
    String id =
        fixture
            .mint(fixture.generated(fixture.registry.named(name).orElseThrow()))
            .getFirst()
            .mapping()
            .publicId()
            .toString();
    fixture.resolver.resolve(id, AllowedTypes.ALL);
    return id;
  }
}
