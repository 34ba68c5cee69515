package dev.coatcheck.ids.pin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.seal.SealKeyMissing;
import dev.coatcheck.core.seal.TestSealKeys;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.ending.Endings;
import dev.coatcheck.ids.ending.EraseOutcome;
import dev.coatcheck.ids.mapping.IdParser;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.mapping.SealedRows;
import dev.coatcheck.ids.mapping.TestEras;
import dev.coatcheck.ids.mint.MintCall;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A seal key that leaks: its era is pinned and closed, and the key destroyed. */
class PinsTest {
  @RegisterExtension static final MappingFixture FIXTURE = new MappingFixture();

  private static final String SECOND_ERA = "2025-01-01T00:00:00Z";
  private static final String IN_FIRST = "2024-06-01T00:00:00Z";
  private static final String IN_SECOND = "2025-06-01T00:00:00Z";

  private static final Pins PINS = new Pins(FIXTURE.database, InstantSource.system());

  /** With a leaked first era, and a second one. */
  private static Type type(String name, String prefix) {
    return TestEras.began(FIXTURE, FIXTURE.sealed(name, prefix, Instant.EPOCH), SECOND_ERA);
  }

  private static PinOutcome pinned(Type type, List<Key.Bigint> keys) {
    return PINS.pin(
        type, TestSealKeys.FIRST, keys.stream().map(Key.Bigint::value).toList(), Actor.operator());
  }

  private static Type closed(Type type) {
    assertThat(FIXTURE.registry.closeEra(type.name(), TestSealKeys.FIRST, Actor.operator()))
        .isPresent();
    return FIXTURE.registry.named(type.name()).orElseThrow();
  }

  private static List<Key.Bigint> keys(int count) {
    return IntStream.range(0, count).mapToObj(i -> TestEras.key(IN_FIRST, i)).toList();
  }

  @Test
  void afterTheCloseOnlyPinnedIdsOfTheEraResolve() {
    Type type = type("leaked", "lkd");
    List<Key.Bigint> keys = keys(20);
    List<Mapping> before = keys.stream().map(key -> FIXTURE.minted(type, key)).toList();
    Key.Bigint unused = TestEras.key(IN_FIRST, 900);
    String forged = TestEras.forgedId(type, TestSealKeys.FIRST, unused);
    Mapping ofSecond = FIXTURE.minted(type, TestEras.key(IN_SECOND, 1));
    assertThat(FIXTURE.resolve(forged)).isInstanceOf(ResolveOutcome.Found.class); // the leak

    assertThat(pinned(type, keys)).isEqualTo(new PinOutcome.Pinned(20, 0, List.of()));
    assertThat(FIXTURE.resolve(forged)).isInstanceOf(ResolveOutcome.Found.class);
    Type after = closed(type);

    assertThat(FIXTURE.resolve(forged)).isEqualTo(new ResolveOutcome.Unknown());
    for (Mapping mapping : before) {
      assertThat(FIXTURE.resolve(mapping))
          .isInstanceOfSatisfying(
              ResolveOutcome.Found.class,
              found -> {
                assertThat(found.mapping().key()).isEqualTo(mapping.key());
                assertThat(found.mapping().createdAt()).isEqualTo(mapping.createdAt());
              });
      assertThat(FIXTURE.lookup.find(after, mapping.key()).orElseThrow().token())
          .isEqualTo(mapping.token());
      assertThat(FIXTURE.minted(after, mapping.key()).token()).isEqualTo(mapping.token());
    }
    assertThat(FIXTURE.resolve(ofSecond))
        .isEqualTo(new ResolveOutcome.Found(FIXTURE.minted(after, ofSecond.key())));
    assertThat(FIXTURE.lookup.find(after, unused)).isEmpty();
    assertThat(pinned(after, keys)).isEqualTo(new PinOutcome.Pinned(0, 20, List.of()));
  }

  @Test
  void aKeyThatWasNotPinnedGetsAStoredIdAndKeepsIt() {
    Type type = closed(type("late", "lat"));
    Key.Bigint key = TestEras.key(IN_FIRST, 1);
    MintOutcome.Ticket ticket = FIXTURE.mint(new MintRequest(type, Optional.of(key))).getFirst();

    assertThat(ticket.created()).isTrue();
    assertThat(ticket.mapping().token())
        .isNotEqualTo(TestEras.forged(type, TestSealKeys.FIRST, key));
    assertThat(FIXTURE.minted(type, key)).isEqualTo(ticket.mapping());
    assertThat(FIXTURE.resolve(ticket.mapping().publicId().toString()))
        .isEqualTo(new ResolveOutcome.Found(ticket.mapping()));
    assertThat(pinned(type, List.of(key, TestEras.key(IN_FIRST, 2))))
        .isEqualTo(new PinOutcome.Pinned(1, 0, List.of(0)));
    assertThat(FIXTURE.lookup.find(type, key)).contains(ticket.mapping());
  }

  @Test
  void anIdThatWasAskedForTooEarlyResolvesOnceItsKeyIsPinned() {
    Type type = type("early", "ear");
    Mapping mapping = FIXTURE.minted(type, TestEras.key(IN_FIRST, 1));
    String id = mapping.publicId().toString();
    Type after = closed(type);
    assertThat(FIXTURE.resolve(id)).isEqualTo(new ResolveOutcome.Unknown());

    pinned(after, List.of((Key.Bigint) mapping.key()));

    Awaitility.await().until(() -> FIXTURE.resolve(id) instanceof ResolveOutcome.Found);
  }

  /** The filter of rows does not know the type yet, so what resolved was in the cache. */
  @Test
  void whatWasCachedIsReadAgainAfterTheClose() {
    Type type = type("cached", "cch");
    Mapping pinned = FIXTURE.minted(type, TestEras.key(IN_FIRST, 6));
    String id = pinned.publicId().toString();
    String forged = TestEras.forgedId(type, TestSealKeys.FIRST, TestEras.key(IN_FIRST, 5));
    try (SealedRows none =
        SealedRows.open(
            FIXTURE.database,
            FIXTURE.registry,
            ChangeFeed.none(),
            FIXTURE.observer,
            InstantSource.system())) {
      Resolver resolver =
          new Resolver(
              new IdParser(FIXTURE.registry),
              FIXTURE.aliases,
              FIXTURE.lookup,
              none,
              FIXTURE.feed,
              FIXTURE.observer,
              100,
              3);
      assertThat(resolver.resolve(forged, AllowedTypes.ALL))
          .isInstanceOf(ResolveOutcome.Found.class);
      assertThat(resolver.resolve(id, AllowedTypes.ALL)).isInstanceOf(ResolveOutcome.Found.class);

      pinned(type, List.of((Key.Bigint) pinned.key()));
      closed(type);

      assertThat(resolver.resolve(id, AllowedTypes.ALL)).isInstanceOf(ResolveOutcome.Found.class);
      assertThat(resolver.resolve(forged, AllowedTypes.ALL))
          .isEqualTo(new ResolveOutcome.Unknown());
    }
  }

  @Test
  void anEraClosedWhileAnInstanceStoodStillOpensNothingThere() {
    Type type = type("stood", "std");
    String forged = TestEras.forgedId(type, TestSealKeys.FIRST, TestEras.key(IN_FIRST, 5));
    try (MappingFixture.Behind behind = FIXTURE.behind(TestSealKeys.ALL)) {
      assertThat(behind.resolver().resolve(forged, AllowedTypes.ALL))
          .isInstanceOf(ResolveOutcome.Found.class);

      closed(type);

      assertThat(behind.resolver().resolve(forged, AllowedTypes.ALL))
          .isEqualTo(new ResolveOutcome.Unknown());
      assertThat(behind.lookup().find(type, TestEras.key(IN_FIRST, 5))).isEmpty();
    }
  }

  @Test
  void aRevokedIdThatIsPinnedStaysRevoked() {
    Type type = type("ended", "end");
    Mapping mapping = FIXTURE.minted(type, TestEras.key(IN_FIRST, 1));
    FIXTURE.end(new Endings.Request.Revoke(mapping.publicId().toString(), Optional.empty()));

    assertThat(pinned(type, List.of((Key.Bigint) mapping.key())))
        .isEqualTo(new PinOutcome.Pinned(1, 0, List.of()));
    Type after = closed(type);

    assertThat(FIXTURE.resolve(mapping)).isInstanceOf(ResolveOutcome.Revoked.class);
    assertThat(FIXTURE.minter.mint(MintCall.of(new MintRequest(after, Optional.of(mapping.key())))))
        .isEqualTo(new MintOutcome.Minted(List.of(new MintOutcome.Ended())));
  }

  @Test
  void theAliasOfAnIdThatWasNotPinnedIsTakenAndLeadsThereAgainOncePinned() {
    Type type = type("named", "nmd");
    Alias alias = Alias.of(type, AliasScheme.LEGACY, "4711");
    Key.Bigint key = TestEras.key(IN_FIRST, 1);
    Mapping mapping =
        FIXTURE.mint(new MintRequest(type, Optional.of(key), List.of(alias))).getFirst().mapping();
    Type after = closed(type);
    MintRequest again = new MintRequest(after, Optional.empty(), List.of(alias));

    assertThat(FIXTURE.minter.mint(MintCall.of(again)))
        .isEqualTo(new MintOutcome.Minted(List.of(new MintOutcome.AliasTaken(AliasScheme.LEGACY))));
    assertThat(FIXTURE.resolver.resolveAlias(after, alias)).isEqualTo(new ResolveOutcome.Unknown());
    assertThat(pinned(after, List.of(key))).isEqualTo(new PinOutcome.Pinned(1, 0, List.of()));
    assertThat(FIXTURE.resolver.resolveAlias(after, alias))
        .isInstanceOf(ResolveOutcome.Found.class);
    assertThat(FIXTURE.mint(again).getFirst().mapping().token()).isEqualTo(mapping.token());
  }

  @Test
  void whatIsNotOfTheEraIsRefusedAndNothingIsDone() {
    Type type = type("strange", "str");
    Key.Bigint good = TestEras.key(IN_FIRST, 1);

    assertThat(pinned(type, List.of(good, TestEras.key(IN_SECOND, 1))))
        .isEqualTo(new PinOutcome.NotOfEra(1));
    assertThat(PINS.pin(type, TestSealKeys.THIRD, List.of(good.value()), Actor.operator()))
        .isEqualTo(new PinOutcome.EraUnknown());
    assertThat(pinned(type, List.of(good))).isEqualTo(new PinOutcome.Pinned(1, 0, List.of()));
  }

  /** No unique rule holds both of a key's rows, so their locks have to. */
  @Test
  void aKeyThatIsMintedAndPinnedAtOnceHasOneId() throws Exception {
    Type type = closed(type("raced", "rcd"));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < 20; round++) {
        Key.Bigint key = TestEras.key(IN_FIRST, round);
        MintRequest one = new MintRequest(type, Optional.of(key));
        List<Callable<Object>> racers =
            List.of(
                () -> FIXTURE.untilNotBusy(MintCall.of(one)),
                () -> pinned(type, List.of(key)),
                () -> FIXTURE.untilNotBusy(MintCall.batch(List.of(one, FIXTURE.generated(type)))));
        List<Object> results = new ArrayList<>();
        for (Future<Object> result : threads.invokeAll(racers)) {
          results.add(result.get());
        }
        assertThat(
                FIXTURE
                    .on
                    .sql()
                    .number(
                        "select count(*) from coatcheck.public_id where type_id = %d and key = %d"
                            .formatted(type.number(), key.value())))
            .as("%s", results)
            .isEqualTo(1);
      }
    }
  }

  @Test
  void aPinnedIdIsErasedOnceItsSealKeyIsDestroyed() {
    Type type = type("erased", "ers");
    Key.Bigint key = TestEras.key(IN_FIRST, 1);
    String id = FIXTURE.minted(type, key).publicId().toString();
    pinned(type, List.of(key));
    assertThat(FIXTURE.erase(FIXTURE.resolver, id, false)).isEqualTo(new EraseOutcome.Sealed());
    Type after = closed(type);
    assertThat(FIXTURE.erase(FIXTURE.resolver, id, false))
        .isEqualTo(new EraseOutcome.SealKeyKept(TestSealKeys.FIRST));

    try (MappingFixture.Behind without = FIXTURE.behind(TestSealKeys.withoutFirst())) {
      Type there = without.registry().named("erased").orElseThrow();
      assertThat(there.sealing().orElseThrow().erasWithoutKey()).isEmpty();
      assertThat(without.lookup().find(there, key)).isPresent();
      assertThat(without.resolver().resolve(id, AllowedTypes.ALL))
          .isInstanceOf(ResolveOutcome.Found.class);
      assertThatThrownBy(
              () -> PINS.pin(there, TestSealKeys.FIRST, List.of(key.value() + 1), Actor.operator()))
          .isInstanceOf(SealKeyMissing.class);

      assertThat(FIXTURE.erase(without.resolver(), id, false))
          .isInstanceOf(EraseOutcome.Erased.class);
      assertThat(without.resolver().resolve(id, AllowedTypes.ALL))
          .isInstanceOf(ResolveOutcome.Erased.class);
      assertThat(without.lookup().find(there, key)).isEmpty();
    }
    assertThat(
            FIXTURE
                .on
                .sql()
                .number(
                    "select count(*) from coatcheck.pinned_key where type_id = " + type.number()))
        .isZero();
    // The token of an erased public ID is never issued again.
    assertThat(pinned(after, List.of(key))).isEqualTo(new PinOutcome.Pinned(0, 0, List.of(0)));
  }
}
