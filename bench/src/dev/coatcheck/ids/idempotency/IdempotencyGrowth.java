package dev.coatcheck.ids.idempotency;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.jooq.DSLContext;

/**
 * P20: keyed calls at an even rate through simulated days, while others run beside. Time passes in
 * steps, by moving back when the current part of the answers began.
 */
public final class IdempotencyGrowth {
  private static final Duration STEP = Duration.ofMinutes(10);
  private static final int STEPS_A_DAY = 144;
  private static final int LOCK_MILLIS_MAX = 1_000;
  private static final String HASH = "ab".repeat(32);
  private static final StoredResponse ANSWER =
      new StoredResponse(201, "{\"object\":\"public_id\"}");

  private final Database database;
  private final AnswerExpiry expiry;
  private final AtomicBoolean isOver = new AtomicBoolean();
  private final LongAdder kept = new LongAdder();

  /** Odd while a turn is under way. */
  private final AtomicInteger turns = new AtomicInteger();

  private final LongAccumulator longestNanos = new LongAccumulator(Math::max, 0);
  private final LongAccumulator longestBesideNanos = new LongAccumulator(Math::max, 0);

  private IdempotencyGrowth(Database database, AnswerExpiry expiry) {
    this.database = database;
    this.expiry = expiry;
  }

  /**
   * What was measured.
   *
   * @param keptRatioMax the rows of all answers over those of the last 24 hours, at its largest
   * @param longestMillis of the transactions during which a part ended
   * @param longestBesideMillis of all others: what the machine and its disk make a call wait
   */
  public record Result(double keptRatioMax, double longestMillis, double longestBesideMillis) {}

  /**
   * Runs through the days.
   *
   * @param rowsAStep answers of ten simulated minutes
   * @param sessions that run keyed transactions all the time
   */
  public static Result measure(
      Database database, Observer observer, int days, int rowsAStep, int sessions) {
    try (AnswerExpiry expiry = new AnswerExpiry(database, PartTable.PART, observer)) {
      return new IdempotencyGrowth(database, expiry).measure(days, rowsAStep, sessions);
    }
  }

  private Result measure(int days, int rowsAStep, int sessions) {
    double ratioMax = 0;
    try (ExecutorService executor = Executors.newFixedThreadPool(sessions)) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < sessions; i++) {
        running.add(executor.submit(this::callUntilOver));
      }
      try {
        ratioMax = pass(days * STEPS_A_DAY, rowsAStep);
      } finally {
        isOver.set(true);
      }
      for (Future<?> session : running) {
        session.get();
      }
    } catch (ExecutionException failed) {
      throw new IllegalStateException("a session failed", failed.getCause());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", stopped);
    }
    return new Result(ratioMax, longestNanos.get() / 1e6, longestBesideNanos.get() / 1e6);
  }

  private double pass(int steps, int rowsAStep) {
    double ratioMax = 0;
    Deque<Long> before = new ArrayDeque<>();
    for (int step = 0; step < steps; step++) {
      call(rowsAStep);
      database.write(
          "bench",
          sql ->
              sql.execute(
                  "update coatcheck.idempotency_turn set began_at = began_at"
                      + " - make_interval(secs => "
                      + STEP.toSeconds()
                      + ")"));
      turns.incrementAndGet();
      boolean _ = expiry.run();
      turns.incrementAndGet();
      // Rows that come meanwhile are counted as needed, and may be missing among those that are
      // there.
      long present = rows();
      before.addLast(kept.sum());
      if (before.size() > STEPS_A_DAY) {
        long needed = before.getLast() - before.removeFirst();
        ratioMax = Math.max(ratioMax, (double) present / needed);
      }
    }
    return ratioMax;
  }

  private void callUntilOver() {
    while (!isOver.get()) {
      int turn = turns.get();
      long begun = System.nanoTime();
      call(1);
      boolean isDuringTurn = turn % 2 == 1 || turns.get() != turn;
      (isDuringTurn ? longestNanos : longestBesideNanos).accumulate(System.nanoTime() - begun);
    }
  }

  /** One transaction, as a mint's. */
  private void call(int count) {
    List<IdempotencyTable.Entry> entries =
        IntStream.range(0, count)
            .mapToObj(
                _ ->
                    new IdempotencyTable.Entry(
                        new IdempotencyKey("bench", UUID.randomUUID().toString()), HASH, ANSWER))
            .toList();
    boolean isKept = database.write("bench", sql -> keep(sql, entries));
    if (!isKept) {
      throw new IllegalStateException("a new key had an answer");
    }
    kept.add(count);
  }

  private static boolean keep(DSLContext sql, List<IdempotencyTable.Entry> entries) {
    List<Long> hashes =
        entries.stream().map(entry -> entry.key().digest().getMostSignificantBits()).toList();
    // A step's entries come from one transaction only to be quick: their locks are not measured.
    IdempotencyTable.Locks locks =
        IdempotencyTable.lock(sql, hashes.size() == 1 ? hashes : List.of(), LOCK_MILLIS_MAX);
    List<IdempotencyKey> keys = entries.stream().map(IdempotencyTable.Entry::key).toList();
    if (keys.size() == 1 && !IdempotencyTable.find(sql, locks.part(), keys).isEmpty()) {
      return false;
    }
    IdempotencyTable.keep(sql, locks.part(), entries);
    return true;
  }

  private long rows() {
    return database.read(
        "bench",
        sql ->
            IntStream.range(0, PartTable.lookedInto(0).size() + 1)
                .mapToLong(part -> sql.fetchCount(PartTable.table(part)))
                .sum());
  }
}
