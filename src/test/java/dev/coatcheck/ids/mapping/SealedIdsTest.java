package dev.coatcheck.ids.mapping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.seal.SealKeyMissing;
import dev.coatcheck.core.seal.TestSealKeys;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.ending.EndOutcome;
import dev.coatcheck.ids.ending.Endings;
import dev.coatcheck.ids.ending.EraseOutcome;
import dev.coatcheck.ids.mint.MintCall;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.mint.Minter;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sealed public IDs in the real database, which has a row of them only where they ended. */
class SealedIdsTest {
  @RegisterExtension static final MappingFixture FIXTURE = new MappingFixture();

  /** Always sealed. */
  private static Type message;

  /** Sealed from a moment on, with stored IDs before. */
  private static Type order;

  private static final Instant MOMENT = Instant.parse("2024-06-01T00:00:00Z");

  @BeforeAll
  static void types() {
    message = FIXTURE.sealed("message", "msg", Instant.EPOCH);
    order = FIXTURE.sealed("order", "ord", MOMENT);
    FIXTURE.on.sql().execute("create extension if not exists pg_stat_statements");
    FIXTURE.awaitNoRow(order, new Token(1, 2));
  }

  private static EndOutcome ended(Endings.Request request) {
    return FIXTURE.end(request) instanceof Endings.Result.Settled(List<EndOutcome> outcomes)
        ? outcomes.getFirst()
        : new EndOutcome.Unissued(EndOutcome.Side.ID, new ResolveOutcome.Unknown());
  }

  private static EndOutcome revoked(Mapping mapping) {
    return ended(
        new Endings.Request.Revoke(mapping.publicId().toString(), Optional.of("reported")));
  }

  private static long rows(Type type) {
    return FIXTURE
        .on
        .sql()
        .number("select count(*) from coatcheck.public_id where type_id = " + type.number());
  }

  @Test
  void aMintAndAResolveSendNoStatement() {
    FIXTURE.minted(message);
    long before = FIXTURE.statementsOnIds();
    List<MintOutcome.Ticket> batch =
        FIXTURE.mint(
            IntStream.range(0, 500)
                .mapToObj(_ -> FIXTURE.generated(message))
                .toArray(MintRequest[]::new));
    for (MintOutcome.Ticket ticket : batch) {
      assertThat(ticket.created()).isTrue();
      assertThat(FIXTURE.resolve(ticket.mapping()))
          .isEqualTo(new ResolveOutcome.Found(ticket.mapping()));
      assertThat(FIXTURE.lookup.find(message, ticket.mapping().key())).contains(ticket.mapping());
    }
    assertThat(FIXTURE.resolve(new PublicId(message.prefix(), new Token(5, 6)).toString()))
        .isEqualTo(new ResolveOutcome.Unknown());

    assertThat(FIXTURE.statementsOnIds()).isEqualTo(before);
    assertThat(batch).extracting(ticket -> ticket.mapping().token()).doesNotHaveDuplicates();
    assertThat(rows(message)).isLessThan(500);
  }

  @Test
  void beforeItsMomentATypeDrawsOneKeyForEachMint() {
    AtomicInteger drawn = new AtomicInteger();
    Function<Type, KeyGenerator> generators = MappingFixture.generators();
    Function<Type, KeyGenerator> counting =
        type ->
            wanted -> {
              drawn.addAndGet(wanted);
              return generators.apply(type).next(wanted);
            };
    try (MappingFixture fixture = new MappingFixture(counting)) {
      Type later = fixture.sealed("later", "ltr", Instant.now().plus(Duration.ofHours(1)));

      fixture.mint(fixture.generated(later));
      fixture.mint(fixture.generated(later), fixture.generated(later));

      assertThat(drawn).hasValue(3);
    }
  }

  @Test
  void aSuppliedKeyHasOneIdHoweverOftenItIsMinted() {
    MintRequest request =
        new MintRequest(message, Optional.of(TestEras.key("2025-03-01T00:00:00Z", 1)));
    MintOutcome.Ticket first = FIXTURE.mint(request).getFirst();

    assertThat(first.created()).isFalse();
    assertThat(FIXTURE.mint(request).getFirst()).isEqualTo(first);
    assertThat(first.mapping().createdAt()).isEqualTo("2025-03-01T00:00:00Z");
    try (MappingFixture other = FIXTURE.beside()) {
      assertThat(other.minter.mint(MintCall.of(request)))
          .isEqualTo(new MintOutcome.Minted(List.of(first)));
    }
  }

  @Test
  void whetherAKeyIsSealedDependsOnTheKeyAlone() {
    Mapping before = FIXTURE.minted(order, TestEras.key("2024-05-31T23:59:59.999Z", 0));
    Mapping after = FIXTURE.minted(order, TestEras.key("2024-06-01T00:00:00Z", 0));

    assertThat(rows(order)).isEqualTo(1);
    assertThat(FIXTURE.resolve(before)).isEqualTo(new ResolveOutcome.Found(before));
    assertThat(FIXTURE.resolve(after)).isEqualTo(new ResolveOutcome.Found(after));
    assertThat(
            FIXTURE.resolver.resolveAll(
                FIXTURE.read(
                    List.of(
                        after.publicId().toString(),
                        before.publicId().toString(),
                        new PublicId(order.prefix(), new Token(7, 8)).toString()))))
        .containsExactly(
            new ResolveOutcome.Found(after),
            new ResolveOutcome.Found(before),
            new ResolveOutcome.Unknown());
    assertThat(
            FIXTURE.lookup.findAll(
                order, List.of(after.key(), before.key(), TestEras.key("2024-05-01T00:00:00Z", 9))))
        .containsExactly(Optional.of(after), Optional.of(before), Optional.empty());
  }

  @Test
  void aMixedBatchIsDoneWhole() {
    List<MintOutcome.Ticket> tickets =
        FIXTURE.mint(
            FIXTURE.generated(message), FIXTURE.request(77_001), FIXTURE.generated(message));

    assertThat(tickets).extracting(MintOutcome.Ticket::created).containsExactly(true, true, true);
    tickets.forEach(
        ticket ->
            assertThat(FIXTURE.resolve(ticket.mapping()))
                .isEqualTo(new ResolveOutcome.Found(ticket.mapping())));
  }

  @Test
  void aLegacyIdLeadsToASealedId() {
    Alias alias = Alias.of(message, AliasScheme.LEGACY, "4711");
    MintRequest request = new MintRequest(message, Optional.empty(), List.of(alias));
    MintOutcome.Ticket first = FIXTURE.mint(request).getFirst();

    assertThat(first.created()).isTrue();
    assertThat(FIXTURE.mint(request).getFirst())
        .isEqualTo(new MintOutcome.Ticket(first.mapping(), false));
    assertThat(FIXTURE.resolver.resolveAlias(message, alias))
        .isEqualTo(new ResolveOutcome.Found(first.mapping()));
    MintRequest other =
        new MintRequest(
            message, Optional.of(TestEras.key("2025-01-01T00:00:00Z", 4)), List.of(alias));
    assertThat(FIXTURE.minter.mint(MintCall.of(other)))
        .isEqualTo(new MintOutcome.Minted(List.of(new MintOutcome.AliasTaken(AliasScheme.LEGACY))));
    MintRequest second =
        new MintRequest(
            message,
            Optional.of(first.mapping().key()),
            List.of(Alias.of(message, AliasScheme.LEGACY, "4712")));
    assertThat(FIXTURE.mint(second).getFirst())
        .isEqualTo(new MintOutcome.Ticket(first.mapping(), false));
  }

  @Test
  void aRevokedIdIsDeadHereAndOnAnotherInstanceAndAfterARestart() {
    Mapping mapping = FIXTURE.minted(message);
    Mapping alive = FIXTURE.minted(message);
    try (MappingFixture other = FIXTURE.beside()) {
      String text = mapping.publicId().toString();
      other.awaitNoRow(message, mapping.token());
      assertThat(other.resolve(text)).isEqualTo(new ResolveOutcome.Found(mapping));

      assertThat(revoked(mapping)).isInstanceOf(EndOutcome.Done.class);
      assertThat(FIXTURE.resolve(mapping)).isInstanceOf(ResolveOutcome.Revoked.class);
      assertThat(FIXTURE.lookup.find(message, mapping.key()).orElseThrow().status())
          .isEqualTo(Mapping.Status.REVOKED);
      Awaitility.await()
          .atMost(Duration.ofSeconds(2))
          .until(() -> other.resolve(text) instanceof ResolveOutcome.Revoked);
    }
    assertThat(
            FIXTURE.minter.mint(MintCall.of(new MintRequest(message, Optional.of(mapping.key())))))
        .isEqualTo(new MintOutcome.Minted(List.of(new MintOutcome.Ended())));
    try (MappingFixture restarted = FIXTURE.beside()) {
      assertThat(restarted.resolve(mapping)).isInstanceOf(ResolveOutcome.Revoked.class);
      restarted.awaitNoRow(message, alive.token());
      assertThat(restarted.sealedRows.haveNone(TypedToken.of(message, mapping.token()))).isFalse();
      assertThat(restarted.resolve(mapping)).isInstanceOf(ResolveOutcome.Revoked.class);
    }
  }

  /** As by a restore of the database: what was missed is read again before any is believed. */
  @Test
  void anEndingWhoseChangeWasMissedIsSeenAllTheSame() {
    Mapping mapping = FIXTURE.minted(message);
    try (MappingFixture other = FIXTURE.beside()) {
      other.awaitNoRow(message, mapping.token());

      assertThat(revoked(mapping)).isInstanceOf(EndOutcome.Done.class);
      FIXTURE
          .on
          .sql()
          .execute(
              "delete from coatcheck.change",
              "update coatcheck.change_head set number = number + 10");

      Awaitility.await().until(() -> other.resolve(mapping) instanceof ResolveOutcome.Revoked);
      other.awaitNoRow(message, new Token(3, 4));
      assertThat(other.resolve(mapping)).isInstanceOf(ResolveOutcome.Revoked.class);
    }
  }

  @Test
  void sealedIdsAreMergedAndTheirChainsAreFlat() {
    Mapping one = FIXTURE.minted(message);
    Mapping two = FIXTURE.minted(message);
    Mapping three = FIXTURE.minted(message);

    assertThat(merged(one, two)).isInstanceOf(EndOutcome.Done.class);
    assertThat(merged(two, three)).isInstanceOf(EndOutcome.Done.class);

    assertThat(FIXTURE.resolve(one))
        .isInstanceOfSatisfying(
            ResolveOutcome.Merged.class,
            merged -> assertThat(merged.survivor().token()).isEqualTo(three.token()));
    assertThat(FIXTURE.resolve(three)).isEqualTo(new ResolveOutcome.Found(three));
    assertThat(FIXTURE.lookup.mergedInto(three, 10)).hasSize(2);
    assertThat(revoked(three)).isInstanceOf(EndOutcome.Done.class);
    Awaitility.await().until(() -> FIXTURE.resolve(one) instanceof ResolveOutcome.Revoked);
  }

  private static EndOutcome merged(Mapping from, Mapping into) {
    return ended(new Endings.Request.Merge(from.publicId().toString(), into.publicId().toString()));
  }

  @Test
  void refusedEndingsLeaveNoRow() {
    Mapping one = FIXTURE.minted(message);
    long before = rows(message);

    assertThat(merged(one, one)).isInstanceOf(EndOutcome.MergeRefused.class);
    FIXTURE.end(
        List.of(new Endings.Request.Revoke(one.publicId().toString(), Optional.empty())),
        Endings.Mode.NONE,
        Actor.operator());

    assertThat(rows(message)).isEqualTo(before);
    assertThat(FIXTURE.resolve(one)).isEqualTo(new ResolveOutcome.Found(one));
  }

  @Test
  void instancesThatEndOneIdAtOnceAgree() throws Exception {
    try (MappingFixture other = FIXTURE.beside();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < 10; round++) {
        String text = FIXTURE.minted(message).publicId().toString();
        List<Callable<Endings.Result>> racers = new ArrayList<>();
        for (MappingFixture each : List.of(FIXTURE, other, FIXTURE, other)) {
          racers.add(() -> each.end(new Endings.Request.Revoke(text, Optional.of("r"))));
        }
        for (Future<Endings.Result> result : threads.invokeAll(racers)) {
          assertThat(result.get())
              .isInstanceOfSatisfying(
                  Endings.Result.Settled.class,
                  settled ->
                      assertThat(settled.outcomes()).allMatch(EndOutcome.Done.class::isInstance));
        }
      }
    }
  }

  @Test
  void aSealedIdIsNotErased() {
    Mapping mapping = FIXTURE.minted(message);

    assertThat(FIXTURE.erase(FIXTURE.resolver, mapping.publicId().toString(), false))
        .isEqualTo(new EraseOutcome.Sealed());
    assertThat(FIXTURE.resolve(mapping)).isEqualTo(new ResolveOutcome.Found(mapping));
  }

  /** Without its row, its seal key would give its key the same public ID again, alive. */
  @Test
  void aSurvivorIsNotErasedWithSealedIdsThatWereMergedIntoIt() {
    Type type = FIXTURE.sealed("parcel", "prc", MOMENT);
    Mapping stored = FIXTURE.minted(type, TestEras.key("2024-05-01T00:00:00Z", 1));
    Mapping sealed = FIXTURE.minted(type);
    assertThat(merged(sealed, stored)).isInstanceOf(EndOutcome.Done.class);

    assertThat(FIXTURE.erase(FIXTURE.resolver, stored.publicId().toString(), true))
        .isEqualTo(new EraseOutcome.Sealed());

    assertThat(FIXTURE.resolve(stored)).isEqualTo(new ResolveOutcome.Found(stored));
    assertThat(FIXTURE.lookup.find(type, sealed.key()).orElseThrow().status())
        .isEqualTo(Mapping.Status.MERGED);
  }

  @Test
  void anOutageStopsNeitherMintsNorResolvesUntilTheFeedIsNotBelieved() {
    try (MappingFixture fixture = new MappingFixture()) {
      Type type = fixture.sealed("message", "msg", Instant.EPOCH);
      Mapping mapping = fixture.minted(type);
      fixture.awaitNoRow(type, mapping.token());

      fixture.on.setReachable(false);

      assertThat(fixture.resolve(mapping)).isEqualTo(new ResolveOutcome.Found(mapping));
      Mapping later = fixture.minted(type);
      Awaitility.await().until(() -> !fixture.feed.isTrusted());
      // serve_stale, the default
      assertThat(fixture.resolve(later)).isEqualTo(new ResolveOutcome.Found(later));
      fixture.on.setReachable(true);
      fixture.awaitNoRow(type, later.token());
    }
  }

  @Test
  void aTypeThatRefusesInAnOutageRefusesItsSealedIdsTooOnceTheFeedIsNotBelieved() {
    try (MappingFixture fixture = new MappingFixture()) {
      Type type = fixture.sealed("message", "msg", Instant.EPOCH, "{\"on_outage\":\"refuse\"}");
      Mapping mapping = fixture.minted(type);
      String text = mapping.publicId().toString();
      fixture.awaitNoRow(type, mapping.token());

      fixture.on.setReachable(false);
      Awaitility.await().until(() -> !fixture.feed.isTrusted());

      assertThatThrownBy(() -> fixture.resolve(text)).isInstanceOf(DatabaseUnavailable.class);
      fixture.on.setReachable(true);
      Awaitility.await().until(() -> fixture.feed.isTrusted());
      assertThat(fixture.resolve(text)).isEqualTo(new ResolveOutcome.Found(mapping));
    }
  }

  /** The filter is not read yet, or takes the token for one with a row. */
  @Test
  void aTokenThatWasUnknownOfAnotherTypeIsFoundAllTheSame() {
    for (boolean isUnknownFirst : List.of(true, false)) {
      Mapping sealed = FIXTURE.minted(message);
      Token token = sealed.publicId().token();
      FIXTURE.sealedRows.add(token);
      String madeUp = new PublicId(FIXTURE.charge.prefix(), token).toString();
      if (!isUnknownFirst) {
        assertThat(FIXTURE.resolve(sealed)).isEqualTo(new ResolveOutcome.Found(sealed));
      }
      assertThat(FIXTURE.resolve(madeUp)).isInstanceOf(ResolveOutcome.Unknown.class);
      assertThat(FIXTURE.resolve(sealed)).isEqualTo(new ResolveOutcome.Found(sealed));
      assertThat(
              FIXTURE.resolver.resolveAll(
                  FIXTURE.read(List.of(madeUp, sealed.publicId().toString()))))
          .containsExactly(new ResolveOutcome.Unknown(), new ResolveOutcome.Found(sealed));
      assertThat(revoked(sealed)).isInstanceOf(EndOutcome.Done.class);
      assertThat(FIXTURE.resolve(sealed)).isInstanceOf(ResolveOutcome.Revoked.class);
    }
  }

  @ParameterizedTest
  @CsvSource({"lacking, lck, 1970-01-01T00:00:00Z", "partly, prt, 2024-03-01T00:00:00Z"})
  void anInstanceWithoutASealKeyRefusesItsEraAndNothingElse(
      String name, String prefix, Instant sealedFrom) {
    TestEras.began(FIXTURE, FIXTURE.sealed(name, prefix, sealedFrom), "2025-01-01T00:00:00Z");
    Key first = TestEras.key("2024-06-01T00:00:00Z", 1);
    Key second = TestEras.key("2025-06-01T00:00:00Z", 1);
    try (MappingFixture whole = FIXTURE.beside();
        MappingFixture.Behind lacking = FIXTURE.behind(TestSealKeys.withoutSecond())) {
      Type there = whole.registry.named(name).orElseThrow();
      Mapping ofSecond = whole.lookup.find(there, second).orElseThrow();
      Type here = lacking.registry().named(name).orElseThrow();
      String text = ofSecond.publicId().toString();

      assertThat(lacking.lookup().find(here, first)).isPresent();
      assertThatThrownBy(() -> lacking.lookup().find(here, second))
          .isInstanceOf(SealKeyMissing.class);
      for (int time = 0; time < 3; time++) {
        assertThatThrownBy(() -> lacking.resolver().resolve(text, AllowedTypes.ALL))
            .isInstanceOf(SealKeyMissing.class)
            .hasMessageContaining(TestSealKeys.SECOND);
      }
      assertThat(whole.resolve(ofSecond)).isEqualTo(new ResolveOutcome.Found(ofSecond));

      assertThat(
              FIXTURE.aliases.add(
                  there,
                  ofSecond.publicId(),
                  Alias.of(there, AliasScheme.LEGACY, "77"),
                  Actor.operator()))
          .isEqualTo(Aliases.Outcome.ADDED);
      Minter minter =
          Minter.open(
              FIXTURE.database,
              lacking.registry(),
              MappingFixture.TOKENS,
              MappingFixture.generators(),
              lacking.rows(),
              FIXTURE.observer,
              3);
      assertThatThrownBy(
              () ->
                  minter.mint(
                      MintCall.of(
                          new MintRequest(
                              here,
                              Optional.empty(),
                              List.of(Alias.of(here, AliasScheme.LEGACY, "77"))))))
          .isInstanceOf(SealKeyMissing.class);

      List<Endings.Request> revoke = List.of(new Endings.Request.Revoke(text, Optional.empty()));
      Endings endings = new Endings(FIXTURE.database, lacking.resolver());
      assertThatThrownBy(
              () ->
                  endings.end(
                      revoke,
                      Endings.Mode.EACH,
                      Actor.operator(),
                      AllowedTypes.ALL,
                      Optional.empty()))
          .isInstanceOf(SealKeyMissing.class);
      assertThatThrownBy(() -> FIXTURE.erase(lacking.resolver(), text, false))
          .isInstanceOf(SealKeyMissing.class);
    }
  }

  @Test
  void aKeyThatALaterEraMayHaveHasNoIdYet() {
    Instant ahead = Instant.now().plus(Duration.ofHours(24)).plusSeconds(60);

    assertThat(FIXTURE.lookup.find(message, TestEras.key(ahead.toString(), 0))).isEmpty();
    assertThat(FIXTURE.lookup.find(message, TestEras.key(ahead.minusSeconds(120).toString(), 0)))
        .isPresent();
  }
}
