package dev.coatcheck.ids.mint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.idempotency.StoredResponse;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.TypedKey;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.awaitility.Awaitility;
import org.jooq.impl.DSL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class IdempotentMintTest {
  @RegisterExtension static final MappingFixture FIXTURE = new MappingFixture();
  private static final String HASH = "ab".repeat(32);
  private static final String OTHER_HASH = "cd".repeat(32);

  @Test
  void anotherRequestWithTheKeyIsRefusedAndNothingIsDone() {
    mint("reused", HASH);
    int before = rows();

    assertThat(mint("reused", OTHER_HASH)).isEqualTo(new MintOutcome.KeyReused(false));
    assertThat(rows()).isEqualTo(before);
  }

  @Test
  void anotherOwnersKeyIsAnotherKey() {
    MintOutcome mine = mint("owned", HASH);
    MintOutcome theirs = FIXTURE.minter.mint(call(new IdempotencyKey("bob", "owned"), HASH));

    assertThat(theirs).isNotEqualTo(mine);
    assertThat(((MintOutcome.Answered) theirs).replayed()).isFalse();
  }

  @Test
  void everyMintIsCountedOnceByItsOutcome() {
    try (MappingFixture fixture = new MappingFixture()) {
      fixture.mint(fixture.request(1), fixture.request(1), fixture.generated(fixture.user));
      MintCall keyed =
          new MintCall(
              List.of(fixture.request(1)),
              false,
              Optional.of(
                  new IdempotentCall<>(
                      new IdempotencyKey("alice", "counted"),
                      HASH,
                      _ -> new StoredResponse(200, "counted"))));
      fixture.minter.mint(keyed);
      fixture.minter.mint(keyed);

      assertThat(fixture.observer.scrape())
          .contains("coatcheck_mints_total{outcome=\"created\",type=\"charge\"} 1.0")
          .contains("coatcheck_mints_total{outcome=\"created\",type=\"user\"} 1.0")
          .contains("coatcheck_mints_total{outcome=\"existing\",type=\"charge\"} 2.0")
          .contains("coatcheck_mints_replayed_total 1.0");
    }
  }

  @Test
  void anExpiredAnswerGivesWay() {
    MintOutcome first = mint("expired", HASH);
    FIXTURE.database.write(
        "test", sql -> sql.execute("update coatcheck.idempotency_turn set part = part + 7"));

    MintOutcome second = mint("expired", OTHER_HASH);

    assertThat(((MintOutcome.Answered) second).replayed()).isFalse();
    assertThat(second).isNotEqualTo(first);
    assertThat(mint("expired", OTHER_HASH))
        .isEqualTo(new MintOutcome.Answered(((MintOutcome.Answered) second).answer(), true));
  }

  @Test
  void racersWithOneKeyGetOneAnswer() throws Exception {
    int before = rows();
    List<Callable<MintOutcome>> racers = Collections.nCopies(100, () -> mint("raced", HASH));
    Set<StoredResponse> answers = new HashSet<>();
    int own = 0;
    for (MintOutcome outcome : MinterTest.together(racers)) {
      MintOutcome.Answered answered = (MintOutcome.Answered) outcome;
      answers.add(answered.answer());
      own += answered.replayed() ? 0 : 1;
    }

    assertThat(answers).hasSize(1);
    assertThat(own).isEqualTo(1);
    assertThat(rows()).isEqualTo(before + 1);
  }

  /** The first is still at work when the second comes: it must not get the first one's answer. */
  @Test
  void anotherRequestWithTheKeyAtTheSameTimeIsRefusedAndNothingIsDone() throws Exception {
    int before = rows();
    IdempotencyKey key = new IdempotencyKey("alice", "at once");
    CountDownLatch working = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    MintCall first =
        new MintCall(
            List.of(FIXTURE.generated(FIXTURE.charge)),
            false,
            Optional.of(
                new IdempotentCall<>(
                    key,
                    HASH,
                    _ -> {
                      working.countDown();
                      await(release);
                      return new StoredResponse(201, "first");
                    })));
    FutureTask<MintOutcome> second =
        new FutureTask<>(() -> FIXTURE.untilNotBusy(call(key, OTHER_HASH)));
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<MintOutcome> worker = threads.submit(() -> FIXTURE.minter.mint(first));
      working.await();
      Thread waiting = Thread.ofPlatform().start(second);
      Awaitility.await()
          .until(() -> waiting.getState() == Thread.State.TIMED_WAITING || second.isDone());
      release.countDown();

      assertThat(worker.get())
          .isEqualTo(new MintOutcome.Answered(new StoredResponse(201, "first"), false));
      assertThat(second.get()).isEqualTo(new MintOutcome.KeyReused(false));
    }
    assertThat(rows()).isEqualTo(before + 1);
  }

  /** Another transaction, which has written the key, and takes its time to commit. */
  @Test
  void oneHotKeyHoldsUpNobodyElse() throws Exception {
    long hot = 777;
    CountDownLatch written = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Integer> holder =
          threads.submit(
              () ->
                  FIXTURE.database.write(
                      "test",
                      sql -> {
                        TypedKey subject = FIXTURE.request(hot).subject().orElseThrow();
                        MintTarget row =
                            new MintTarget(
                                FIXTURE.charge,
                                subject,
                                MappingFixture.TOKENS.next(subject.bucket()));
                        List<MintTarget> missing = MintTable.insert(sql, List.of(row));
                        written.countDown();
                        await(release);
                        return 1 - missing.size();
                      }));
      written.await();
      List<Future<MintOutcome>> hotOnes =
          Collections.nCopies(20, hot).stream()
              .map(
                  key ->
                      threads.submit(() -> FIXTURE.minter.mint(MintCall.of(FIXTURE.request(key)))))
              .toList();
      for (int i = 0; i < 200; i++) {
        MappingFixture.minted(FIXTURE.minter.mint(MintCall.of(FIXTURE.generated(FIXTURE.charge))));
      }
      for (Future<MintOutcome> one : hotOnes) {
        assertThat(one.get()).isEqualTo(new MintOutcome.Busy());
      }
      // All of that went on while the other transaction was open.
      assertThat(holder.isDone()).isFalse();
      release.countDown();
      assertThat(holder.get()).isEqualTo(1);
    }
    assertThat(
            MappingFixture.minted(FIXTURE.minter.mint(MintCall.of(FIXTURE.request(hot))))
                .getFirst()
                .created())
        .isFalse();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      throw new IllegalStateException(stopped);
    }
  }

  private static MintOutcome mint(String key, String hash) {
    return FIXTURE.minter.mint(call(new IdempotencyKey("alice", key), hash));
  }

  private static MintCall call(IdempotencyKey key, String hash) {
    return new MintCall(
        List.of(FIXTURE.generated(FIXTURE.charge)),
        false,
        Optional.of(
            new IdempotentCall<>(
                key, hash, outcome -> new StoredResponse(201, String.valueOf(outcome)))));
  }

  private static int rows() {
    return FIXTURE.database.read("test", sql -> sql.fetchCount(DSL.table("coatcheck.public_id")));
  }
}
