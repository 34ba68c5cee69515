package dev.coatcheck.ids.ending;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.ending.Endings.Mode;
import dev.coatcheck.ids.ending.Endings.Request;
import dev.coatcheck.ids.ending.Endings.Result;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.idempotency.StoredResponse;
import dev.coatcheck.ids.mapping.IdText;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mint.MintCall;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** On a pool of two connections. */
class EndingsTest {
  @RegisterExtension static final MappingFixture FIXTURE = MappingFixture.withConnections(2);
  private static final StoredResponse DONE = new StoredResponse(200, "done");
  private static final int AT_ONCE = 200;
  private static final int SURVIVORS = 10;
  private static final String WAITING_FOR_THE_HEAD =
      """
       from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'
        and query like '%change_head%'\
      """;

  @Test
  void chainsAreFlattenedInBothDirections() {
    List<String> ids = minted(5);
    merge(ids.get(0), ids.get(1));
    merge(ids.get(1), ids.get(2));
    merge(ids.get(3), ids.get(0));
    merge(ids.get(2), ids.get(4));

    for (String id : ids.subList(0, 4)) {
      assertThat(resolved(id))
          .isInstanceOfSatisfying(
              ResolveOutcome.Merged.class,
              merged -> assertThat(merged.survivor().publicId()).hasToString(ids.get(4)));
    }
    assertThat(longestChain()).isEqualTo(1);
  }

  @Test
  void oppositeMergesAtOnceNeverMakeACycle() throws Exception {
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    List<String> ids = minted(12);
    List<Future<Boolean>> running = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      for (int i = 0; i < 150; i++) {
        List<Request> batch =
            IntStream.range(0, 1 + random.nextInt(3))
                .<Request>mapToObj(
                    _ ->
                        new Request.Merge(
                            ids.get(random.nextInt(ids.size())),
                            ids.get(random.nextInt(ids.size()))))
                .toList();
        running.add(threads.submit(() -> isSettled(batch)));
      }
      int settled = 0;
      for (Future<Boolean> each : running) {
        settled += each.get() ? 1 : 0;
      }
      assertThat(settled).isGreaterThan(running.size() / 3);
    }

    assertThat(longestChain()).isLessThanOrEqualTo(1);
    // All but one can be merged away, and so many tries leave one.
    assertThat(ids.stream().map(EndingsTest::resolved))
        .filteredOn(ResolveOutcome.Found.class::isInstance)
        .hasSize(1);
  }

  @Test
  void rowEndingAndChangeAreWrittenTogether() {
    String id = minted(1).getFirst();
    long before = number("select number from coatcheck.change_head");

    end(new Request.Revoke(id, Optional.of("why")), "me");
    end(new Request.Revoke(id, Optional.of("again")), "me");

    assertThat(number("select number from coatcheck.change_head")).isEqualTo(before + 1);
    assertThat(
            number(
                """
                select count(*) from coatcheck.public_id p
                join coatcheck.ending e using (token)
                join coatcheck.change c
                  on c.subject = p.type_id || ' ' || p.token and c.kind = 'ending'
                where p.status = 1 and e.status = 1 and e.reason = 'why' and e.ended_by = 'me'
                  and c.number = (select number from coatcheck.change_head)
                """))
        .isEqualTo(1);
  }

  /** As after the removal of the alias by which the public ID was named. */
  @Test
  void whatWasDoneIsAnsweredAgainThoughItWouldBeRefusedNow() {
    String id = minted(1).getFirst();

    assertThat(revoked(id, "a")).isEqualTo(new Result.Answered(DONE, false));
    assertThat(revoked("unknown_now", "a")).isEqualTo(new Result.Answered(DONE, true));
    assertThat(revoked("unknown_now", "b")).isInstanceOf(Result.KeyReused.class);
  }

  private static Result revoked(String id, String requestHash) {
    return FIXTURE.endings.end(
        List.of(new Request.Revoke(id, Optional.empty())),
        Mode.EACH,
        Actor.operator(),
        AllowedTypes.ALL,
        Optional.of(
            new IdempotentCall<>(
                new IdempotencyKey("alice", "again"), requestHash.repeat(64), _ -> DONE)));
  }

  @Test
  void whatIsRefusedChangesNothing() {
    List<String> ids = minted(2);
    long before = number("select number from coatcheck.change_head");

    List<EndOutcome> outcomes =
        settled(
            FIXTURE.end(
                List.of(
                    new Request.Revoke(ids.get(0), Optional.empty()),
                    new Request.Merge(ids.get(1), ids.get(1))),
                Mode.ALL_OR_NONE,
                Actor.operator()));

    assertThat(outcomes.get(1))
        .isEqualTo(new EndOutcome.MergeRefused(EndOutcome.MergeRefused.Why.ITSELF));
    assertThat(number("select number from coatcheck.change_head")).isEqualTo(before);
    assertThat(resolved(ids.get(0))).isInstanceOf(ResolveOutcome.Found.class);
  }

  /** Callers that share a transaction: what one of them gave up is as if it had never been. */
  @Test
  void aCallThatIsNotWrittenLeavesNoTraceForTheNext() {
    Type charge = FIXTURE.charge;
    Instant now = Instant.parse("2026-11-22T00:00:00Z");
    List<StoredMapping> rows =
        LongStream.rangeClosed(1, 2)
            .mapToObj(
                key ->
                    new StoredMapping(
                        new Key.Bigint(key),
                        MappingFixture.TOKENS.next(1),
                        charge.number(),
                        now,
                        Mapping.Status.ACTIVE))
            .toList();
    IdText.OfToken id = new IdText.OfToken(charge, rows.get(0).token());
    IdText.OfToken into = new IdText.OfToken(charge, rows.get(1).token());
    EndingPlan plan = new EndingPlan(rows, List.of(), now);

    plan.decide(
        new EndingPlan.Call(
            List.of(new EndingPlan.Step.Merge(id, into)),
            Mode.NONE,
            actor("refused"),
            Optional.empty()));
    EndingPlan.Step revoke = new EndingPlan.Step.Revoke(id, Optional.empty());
    List<EndOutcome> first =
        plan.decide(
            new EndingPlan.Call(List.of(revoke), Mode.EACH, actor("first"), Optional.empty()));
    List<EndOutcome> second =
        plan.decide(
            new EndingPlan.Call(List.of(revoke), Mode.EACH, actor("second"), Optional.empty()));

    assertThat(first).singleElement().isInstanceOf(EndOutcome.Done.class);
    assertThat(second).isEqualTo(first);
    assertThat(plan.audited())
        .singleElement()
        .satisfies(
            entry -> {
              assertThat(entry.actor().name()).isEqualTo("first");
              assertThat(entry.action()).isEqualTo("id.revoke");
              assertThat(entry.subjects()).containsExactly(id.publicId().toString());
            });
    assertThat(plan.planned())
        .singleElement()
        .satisfies(
            planned -> {
              assertThat(planned.row()).isEqualTo(rows.getFirst());
              assertThat(planned.ending().survivor()).isEmpty();
              assertThat(planned.by()).isEqualTo("first");
            });
  }

  @Test
  void uuidTypesEndLikeOthers() {
    List<String> ids =
        FIXTURE.mint(FIXTURE.generated(FIXTURE.user), FIXTURE.generated(FIXTURE.user)).stream()
            .map(ticket -> ticket.mapping().publicId().toString())
            .toList();

    merge(ids.get(0), ids.get(1));
    end(new Request.Revoke(ids.get(1), Optional.empty()), "test");

    assertThat(ids.stream().map(EndingsTest::resolved))
        .allMatch(ResolveOutcome.Revoked.class::isInstance);
  }

  /** Nobody is told that the database is unavailable: that would be thrown. */
  @Test
  void endingsAtOnceAllEndAndHoldUpNeitherReadersNorMints() throws Exception {
    List<Mapping> ended = mappings(AT_ONCE);
    List<Mapping> survivors = mappings(SURVIVORS);
    List<Mapping> others = mappings(100);
    long before = number("select number from coatcheck.change_head");
    CountDownLatch go = new CountDownLatch(1);
    AtomicBoolean over = new AtomicBoolean();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Endings.Result>> ending = new ArrayList<>();
      for (int i = 0; i < AT_ONCE; i++) {
        Request request = request(ended, survivors, i);
        ending.add(
            threads.submit(
                () -> {
                  go.await();
                  return FIXTURE.endUntilNotBusy(request);
                }));
      }
      List<Future<Integer>> beside =
          List.of(
              threads.submit(until(over, others, EndingsTest::looksUp)),
              threads.submit(until(over, others, EndingsTest::resolves)),
              threads.submit(until(over, others, _ -> mints())));
      go.countDown();
      try {
        for (Future<Endings.Result> each : ending) {
          assertThat(each.get())
              .isInstanceOfSatisfying(
                  Endings.Result.Settled.class,
                  settled ->
                      assertThat(settled.outcomes())
                          .singleElement()
                          .isInstanceOf(EndOutcome.Done.class));
        }
      } finally {
        over.set(true);
      }
      for (Future<Integer> each : beside) {
        assertThat(each.get()).isPositive();
      }
    }

    for (int i = 0; i < AT_ONCE; i++) {
      ResolveOutcome now = resolved(ended.get(i).publicId().toString());
      if (request(ended, survivors, i) instanceof Request.Revoke) {
        assertThat(now).isInstanceOf(ResolveOutcome.Revoked.class);
      } else {
        Mapping survivor = survivors.get(i % SURVIVORS);
        assertThat(now)
            .isInstanceOfSatisfying(
                ResolveOutcome.Merged.class,
                merged -> assertThat(merged.survivor()).isEqualTo(survivor));
      }
    }
    others.forEach(EndingsTest::resolves);
    others.forEach(EndingsTest::looksUp);
    assertThat(number("select number from coatcheck.change_head") - before).isEqualTo(AT_ONCE);
    assertThat(
            number(
                "select count(distinct xmin::text) from coatcheck.change where number > " + before))
        .as("transactions")
        .isLessThan(AT_ONCE / 4);
  }

  /** The late one waits for a row that another session holds, as long as that session likes. */
  @Test
  void anEndingThatIsLateHoldsUpItsOwnCallerOnly() {
    awaitDoneAfter(_ -> {});
  }

  @Test
  void endingsWhoseConnectionBrokeAreDoneOnAnother() {
    awaitDoneAfter(
        holder -> holder.text("select count(pg_terminate_backend(pid))" + WAITING_FOR_THE_HEAD));
  }

  /** An ending that waits too long for the head gives up, as on a busy machine: then once more. */
  private static void awaitDoneAfter(Consumer<TestSession> happens) {
    Awaitility.await()
        .ignoreExceptionsMatching(EndingsTest::gaveUp)
        .untilAsserted(() -> requireDoneAfter(happens));
  }

  private static boolean gaveUp(Throwable failure) {
    return failure.getCause() instanceof DatabaseUnavailable
        || String.valueOf(failure.getMessage()).contains("Overloaded");
  }

  /** Of three endings two groups wait for the head when something happens to them. */
  private static void requireDoneAfter(Consumer<TestSession> happens) throws Exception {
    List<String> ids = minted(3);
    try (TestSession holder =
            FIXTURE.on.sql().begin("select from coatcheck.change_head for update");
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<EndOutcome>> ending = new ArrayList<>();
      for (String id : ids) {
        ending.add(threads.submit(() -> end(new Request.Revoke(id, Optional.empty()), "test")));
        awaitWaitingForTheHead(1, ending);
      }
      awaitWaitingForTheHead(2, ending);
      happens.accept(holder);
      holder.rollback();

      for (Future<EndOutcome> each : ending) {
        assertThat(each.get()).isInstanceOf(EndOutcome.Done.class);
      }
    }
    for (String id : ids) {
      assertThat(resolved(id)).isInstanceOf(ResolveOutcome.Revoked.class);
    }
  }

  /** Without a pause: who has waited for 700 ms gives up. */
  private static void awaitWaitingForTheHead(int groups, List<Future<EndOutcome>> ending) {
    Awaitility.await()
        .pollInterval(Duration.ofMillis(5))
        .until(() -> waitingForTheHead() >= groups || ending.stream().anyMatch(Future::isDone));
  }

  private static long waitingForTheHead() {
    return FIXTURE.on.sql().number("select count(*)" + WAITING_FOR_THE_HEAD);
  }

  /** Half of them are revoked, the others merged. */
  private static Request request(List<Mapping> ended, List<Mapping> survivors, int i) {
    String id = ended.get(i).publicId().toString();
    return i % 2 == 0
        ? new Request.Revoke(id, Optional.empty())
        : new Request.Merge(id, survivors.get(i % SURVIVORS).publicId().toString());
  }

  /** Calls again and again; says how often. */
  private static Callable<Integer> until(
      AtomicBoolean over, List<Mapping> others, Consumer<Mapping> call) {
    return () -> {
      int calls = 0;
      do {
        call.accept(others.get(calls++ % others.size()));
      } while (!over.get());
      return calls;
    };
  }

  private static void resolves(Mapping other) {
    assertThat(resolved(other.publicId().toString())).isEqualTo(new ResolveOutcome.Found(other));
  }

  private static void looksUp(Mapping other) {
    assertThat(FIXTURE.lookup.find(other.type(), other.key())).contains(other);
  }

  private static void mints() {
    assertThat(FIXTURE.minter.mint(MintCall.of(FIXTURE.generated(FIXTURE.charge))))
        .isInstanceOf(MintOutcome.Minted.class);
  }

  private static List<Mapping> mappings(int count) {
    MintRequest generated = FIXTURE.generated(FIXTURE.charge);
    return FIXTURE.mint(Collections.nCopies(count, generated).toArray(MintRequest[]::new)).stream()
        .map(MintOutcome.Ticket::mapping)
        .toList();
  }

  private static List<String> minted(int count) {
    return IntStream.range(0, count)
        .mapToObj(_ -> FIXTURE.mint(FIXTURE.generated(FIXTURE.charge)).getFirst())
        .map(ticket -> ticket.mapping().publicId().toString())
        .toList();
  }

  private static void merge(String id, String into) {
    assertThat(end(new Request.Merge(id, into), "test")).isInstanceOf(EndOutcome.Done.class);
  }

  private static EndOutcome end(Request request, String by) {
    return settled(FIXTURE.end(List.of(request), Mode.EACH, actor(by))).getFirst();
  }

  private static List<EndOutcome> settled(Endings.Result result) {
    if (result instanceof Endings.Result.Settled(List<EndOutcome> outcomes)) {
      return outcomes;
    }
    throw new AssertionError(result);
  }

  /** Asks Postgres, whatever is cached. */
  private static ResolveOutcome resolved(String id) {
    if (PublicId.parse(id) instanceof ParsedId.Valid(PublicId parsed)) {
      FIXTURE.resolver.forget(FIXTURE.charge, parsed.token());
    }
    return FIXTURE.resolver.resolve(id, AllowedTypes.ALL);
  }

  /** Whether all were settled in time; a busy machine may need longer. */
  private static boolean isSettled(List<Request> batch) {
    try {
      return FIXTURE.end(batch, Mode.EACH, Actor.operator()) instanceof Endings.Result.Settled;
    } catch (DatabaseUnavailable late) {
      return false;
    }
  }

  private static long longestChain() {
    return number(
        """
        with recursive chain (token, survivor, length) as (
          select token, survivor, 1 from coatcheck.ending where survivor is not null
          union all
          select chain.token, next.survivor, length + 1
          from chain join coatcheck.ending next on next.token = chain.survivor
          where next.survivor is not null and length < 50
        ) select coalesce(max(length), 0) from chain
        """);
  }

  private static long number(String query) {
    return FIXTURE.database.read("test", sql -> sql.fetchSingle(query).get(0, Long.class));
  }

  private static Actor actor(String name) {
    return new Actor(name, Optional.empty(), Optional.empty(), Optional.empty());
  }
}
