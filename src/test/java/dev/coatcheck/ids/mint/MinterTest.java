package dev.coatcheck.ids.mint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.registry.PutConditions;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.ids.registry.Type;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class MinterTest {
  @RegisterExtension static final MappingFixture FIXTURE = new MappingFixture();

  @Test
  void aKeyTwiceInOneBatchIsCreatedOnce() {
    List<MintOutcome.Ticket> tickets =
        FIXTURE.mint(FIXTURE.request(2), FIXTURE.request(3), FIXTURE.request(2));

    assertThat(tickets).extracting(MintOutcome.Ticket::created).containsExactly(true, true, false);
    assertThat(tickets.get(2).mapping()).isEqualTo(tickets.get(0).mapping());
  }

  @Test
  void theSameKeyOfTwoTypesIsTwoThings() {
    Type message = FIXTURE.type("message", "msg", KeyKind.BIGINT);
    MintOutcome.Ticket charge = FIXTURE.mint(FIXTURE.request(4)).getFirst();
    MintOutcome.Ticket other =
        FIXTURE.mint(new MintRequest(message, Optional.of(new Key.Bigint(4)))).getFirst();

    assertThat(other.created()).isTrue();
    assertThat(other.mapping().token()).isNotEqualTo(charge.mapping().token());
  }

  @Test
  void mixedTypesKeepTheirOrder() {
    List<MintOutcome.Ticket> tickets =
        FIXTURE.mint(
            FIXTURE.generated(FIXTURE.user),
            FIXTURE.request(5),
            FIXTURE.generated(FIXTURE.charge),
            FIXTURE.generated(FIXTURE.user));

    assertThat(tickets)
        .extracting(ticket -> ticket.mapping().type().name())
        .containsExactly("user", "charge", "charge", "user");
    assertThat(tickets).allMatch(MintOutcome.Ticket::created);
  }

  @Test
  void racersInOppositeOrdersAgreeAndDoNotDeadlock() throws Exception {
    raceInOppositeOrders(
        FIXTURE, LongStream.range(1_000, 1_200).mapToObj(FIXTURE::request).toList());
  }

  @Test
  void aGeneratedKeyThatIsTakenIsDrawnAgainAndNeverHandedOut() {
    AtomicInteger draws = new AtomicInteger();
    KeyGenerator copied =
        count ->
            new KeyOutcome.Drawn(
                LongStream.range(0, count)
                    .<Key>mapToObj(i -> new Key.Bigint(draws.getAndIncrement() / 2))
                    .toList());
    try (MappingFixture fixture = new MappingFixture(_ -> copied)) {
      MintOutcome.Ticket first = fixture.mint(fixture.generated(fixture.charge)).getFirst();
      MintOutcome.Ticket second = fixture.mint(fixture.generated(fixture.charge)).getFirst();

      assertThat(first.mapping().key()).isEqualTo(new Key.Bigint(0));
      assertThat(second.mapping().key()).isEqualTo(new Key.Bigint(1));
      assertThat(second.created()).isTrue();
      assertThat(fixture.observer.scrape()).contains("coatcheck_keys_conflicts_total");
    }
  }

  @Test
  void aTokenThatIsTakenIsDrawnAgain() {
    Token taken = new Token(1, 0);
    Token free = new Token(2, 0);
    MintRequest first = requestInBucketZero(10_000);
    MintRequest second = requestInBucketZero(20_000);
    Deque<Token> draws = new ArrayDeque<>(List.of(taken, taken, taken, free));
    Minter unlucky = minter(_ -> draws.pop());
    unlucky.mint(MintCall.of(first));

    assertThat(MappingFixture.minted(unlucky.mint(MintCall.of(second))).getFirst())
        .satisfies(
            ticket -> {
              assertThat(ticket.created()).isTrue();
              assertThat(ticket.mapping().token()).isEqualTo(free);
            });
    assertThat(draws).isEmpty();
  }

  @Test
  void aTypeThatWasRetiredSinceTheRequestWasReadGetsNothingNew() {
    Type before = FIXTURE.type("late", "lat", KeyKind.BIGINT);
    FIXTURE.registry.put(
        TestType.of("late", "lat").with("retired", true).definition(),
        PutConditions.NONE,
        Actor.operator());

    assertThat(FIXTURE.minter.mint(MintCall.of(FIXTURE.generated(before))))
        .isEqualTo(new MintOutcome.Minted(List.of(new MintOutcome.TypeRetired())));
  }

  @Test
  void refusedKeysMintNothing() {
    KeyGenerator refusing = _ -> new KeyOutcome.Refused("no worker", 250);
    try (MappingFixture fixture = new MappingFixture(_ -> refusing)) {
      MintOutcome outcome =
          fixture.minter.mint(
              MintCall.batch(List.of(fixture.request(1), fixture.generated(fixture.charge))));

      assertThat(outcome)
          .isEqualTo(new MintOutcome.KeysUnavailable(new KeyOutcome.Refused("no worker", 250)));
      assertThat(fixture.lookup.find(fixture.charge, new Key.Bigint(1))).isEmpty();
    }
  }

  private static Minter minter(IntFunction<Token> drawToken) {
    return new Minter(
        new MintStore(FIXTURE.database, FIXTURE.observer),
        FIXTURE.registry::current,
        MappingFixture.generators(),
        drawToken,
        FIXTURE.sealedRows,
        FIXTURE.observer,
        4);
  }

  private static MintRequest requestInBucketZero(long from) {
    return LongStream.iterate(from, key -> key + 1)
        .mapToObj(FIXTURE::request)
        .filter(request -> request.subject().orElseThrow().bucket() == 0)
        .findFirst()
        .orElseThrow();
  }

  /** Batches forwards and backwards at the same time create each thing once. */
  static void raceInOppositeOrders(MappingFixture fixture, List<MintRequest> forwards)
      throws Exception {
    List<MintRequest> backwards = new ArrayList<>(forwards);
    Collections.reverse(backwards);

    List<Callable<List<MintOutcome.Ticket>>> racers =
        IntStream.range(0, 16)
            .<Callable<List<MintOutcome.Ticket>>>mapToObj(
                racer ->
                    () ->
                        MappingFixture.minted(
                            fixture.untilNotBusy(
                                MintCall.batch(racer % 2 == 0 ? forwards : backwards))))
            .toList();
    Set<Token> tokens = new HashSet<>();
    int created = 0;
    for (List<MintOutcome.Ticket> tickets : together(racers)) {
      for (MintOutcome.Ticket ticket : tickets) {
        tokens.add(ticket.mapping().token());
        created += ticket.created() ? 1 : 0;
      }
    }

    assertThat(tokens).hasSize(forwards.size());
    assertThat(created).isEqualTo(forwards.size());
  }

  static <T> List<T> together(List<Callable<T>> tasks) throws Exception {
    CountDownLatch start = new CountDownLatch(1);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<T>> futures =
          tasks.stream()
              .map(
                  task ->
                      threads.submit(
                          () -> {
                            start.await();
                            return task.call();
                          }))
              .toList();
      start.countDown();
      List<T> results = new ArrayList<>();
      for (Future<T> future : futures) {
        results.add(future.get());
      }
      return results;
    }
  }
}
