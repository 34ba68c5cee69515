package dev.coatcheck.ids.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.Breakage;
import dev.coatcheck.BrokenBy;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.group.LostRace;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jooq.DSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Answers are kept for their time, found wherever they are, and expire by whole parts. */
class AnswerPartsTest {
  private static final int SESSIONS = 12;
  private static final int KEYS_A_TURN = 20;

  /** Sessions are never further apart than four turns, or an answer might expire between them. */
  private static final int KEYS_A_BLOCK = 80;

  private static final int BLOCKS = 2;
  private static final int WAIT_MILLIS = 1_000;
  private static final String HASH = "ab".repeat(32);
  private static final StoredResponse ANSWER = new StoredResponse(201, "{}");

  private static final TestDatabase FRESH = TestDatabase.fresh();
  private static final Observer OBSERVER = new Observer();
  private static final Database DATABASE = open(FRESH);

  /** As a role that doesn't own the tables which it truncates. */
  private static Database open(TestDatabase on) {
    return Database.open(on.asLesserRole().settings(SESSIONS + 2), "test", OBSERVER);
  }

  @AfterAll
  static void close() {
    DATABASE.close();
  }

  /**
   * A part has four hours. Expired answers are emptied a minute after the turn, or those of 32
   * hours would take room, for those of 24 that must be kept.
   */
  @Test
  void anAnswerIsKeptForADayAndItsTableIsEmptiedAfterwards() {
    try (AnswerExpiry turns = new AnswerExpiry(DATABASE, PartTable.PART, OBSERVER)) {
      List<IdempotencyKey> keys = new ArrayList<>();
      List<Long> parts = new ArrayList<>();
      for (int turn = 0; turn < 8; turn++) {
        keys.add(new IdempotencyKey("alice", "expires " + turn));
        parts.add(keep(keys.getLast(), ANSWER));
        partBegan("3 hours 59 minutes");
        assertThat(turns.run()).as("a turn before its time").isFalse();
        partBegan("4 hours");
        assertThat(turns.run()).isTrue();
      }

      assertThat(turns.run()).isFalse();
      assertThat(rows(parts.getFirst())).as("emptied by the turn").isZero();
      assertThat(isIn(parts.get(1), keys.get(1))).isTrue();
      partBegan("59 seconds");
      assertThat(turns.run()).isFalse();
      assertThat(isIn(parts.get(1), keys.get(1))).isTrue();
      partBegan("60 seconds");
      assertThat(turns.run()).isFalse();
      assertThat(rows(parts.get(1))).as("no lookup has read it for a minute").isZero();
      assertThat(find(DATABASE, keys).keySet())
          .containsExactlyInAnyOrderElementsOf(keys.subList(2, 8));
    }
  }

  /** Or no part ended in that year, and no erasure would be complete when it says. */
  @Test
  void aPartThatBeganBeforeTheClockWasSetBackByAYearEndsInTime() {
    try (AnswerExpiry turns = new AnswerExpiry(DATABASE, PartTable.PART, OBSERVER)) {
      partBegan("-1 year");
      assertThat(turns.run()).as("a turn before its time").isFalse();

      DATABASE.write(
          "test",
          sql ->
              sql.execute(
                  "update coatcheck.idempotency_turn set began_at = began_at - interval '4h'"));

      assertThat(turns.run()).isTrue();
    }
  }

  private static boolean isIn(long part, IdempotencyKey key) {
    List<IdempotencyKey> keys = List.of(key);
    return DATABASE.read(
        "test", sql -> !IdempotencyTable.find(sql, List.of(PartTable.table(part)), keys).isEmpty());
  }

  private static int rows(long part) {
    return DATABASE.read("test", sql -> sql.fetchCount(PartTable.table(part)));
  }

  @Test
  void whatATurnEmptiesNobodyLooksIntoBeforeNorAfterwards() {
    LongStream.range(0, 20)
        .forEach(
            part -> {
              assertThat(PartTable.lookedInto(part))
                  .doesNotHaveDuplicates()
                  .hasSize(8)
                  .contains(PartTable.table(part))
                  .doesNotContain(PartTable.emptiedAfter(part));
              assertThat(PartTable.lookedInto(part + 1)).contains(PartTable.emptiedAfter(part));
            });
  }

  /**
   * Our statement saw the part before the turn; the answer was committed before it had the lock.
   */
  @Test
  void anAnswerOfATransactionThatSawALaterTurnIsFound() {
    IdempotencyKey key = new IdempotencyKey("alice", "later");
    DATABASE.write("test", sql -> keep(sql, part() + 1, key, ANSWER));

    assertThat(find(key)).containsKey(key);
  }

  @Test
  void aLiveAnswerIsNeverOverwritten() {
    IdempotencyKey key = new IdempotencyKey("alice", "live");
    keep(key, ANSWER);

    assertThatThrownBy(
            () ->
                DATABASE.write(
                    "test", sql -> keep(sql, part(), key, new StoredResponse(409, "other"))))
        .isInstanceOf(LostRace.class);

    assertThat(find(key)).containsEntry(key, new IdempotencyTable.Past(HASH, ANSWER));
  }

  /** A dump reads all tables for as long as it lasts; most parts are empty when they are needed. */
  @Test
  void aDumpDoesNotHoldUpATurn() {
    try (AnswerExpiry turns = new AnswerExpiry(DATABASE, PartTable.PART, OBSERVER);
        TestSession dump = FRESH.sql().session()) {
      partBegan("60 seconds");
      assertThat(turns.run()).isFalse();
      long before = part();
      assertThat(rows(before + 2)).isZero();
      dump.begin(
          LongStream.range(0, 9)
              .mapToObj(part -> "coatcheck." + PartTable.table(part).getName())
              .collect(Collectors.joining(", ", "lock table ", " in access share mode")));
      partBegan("4 hours");

      assertThat(turns.run()).isTrue();
      assertThat(part()).isEqualTo(before + 1);
    }
  }

  /** A lock that another session holds delays a turn, and no turn waits for long. */
  @Test
  void aTurnThatDoesNotGetItsLockIsLeftForTheNextTime() {
    try (AnswerExpiry turns = new AnswerExpiry(DATABASE, Duration.ZERO, OBSERVER);
        TestSession other = FRESH.sql().session()) {
      long before = part();
      IdempotencyKey expired = new IdempotencyKey("alice", "expired");
      DATABASE.write("test", sql -> keep(sql, before + 2, expired, ANSWER));
      other.begin(
          "lock table coatcheck.%s in access share mode"
              .formatted(PartTable.emptiedAfter(before).getName()));
      assertThat(turns.run()).isFalse();
      assertThat(part()).isEqualTo(before);

      other.rollback();
      assertThat(turns.run()).isTrue();
      assertThat(part()).isEqualTo(before + 1);
      assertThat(rows(before + 2)).isZero();
    }
  }

  /** A defect shows in most races; the search ends with the first. */
  @Test
  @BrokenBy("current-part-only")
  void eachKeyIsWorkedOnOnceWhileThePartsTurn() throws Exception {
    String defect = Breakage.current();
    FRESH
        .sql()
        .inPublic()
        .execute(
            "create table if not exists worked (run text, key text)",
            "grant select, insert on worked to public");
    int races = defect.isEmpty() ? 1 : 10;
    for (int race = 0; race < races; race++) {
      String run = "race %d %s".formatted(race, defect);
      race(run, defect);
      int twice =
          DATABASE.read(
              "test",
              sql ->
                  sql.fetch(
                          "select key from worked where run = ? group by key having count(*) > 1",
                          run)
                      .size());
      assertThat(twice).as("keys worked on twice").isZero();
    }
  }

  private static void race(String run, String defect) throws Exception {
    long before = part();
    CyclicBarrier blocks = new CyclicBarrier(SESSIONS);
    AtomicInteger firsts = new AtomicInteger();
    try (AnswerExpiry turns = new AnswerExpiry(DATABASE, Duration.ZERO, OBSERVER);
        ExecutorService sessions = Executors.newFixedThreadPool(SESSIONS)) {
      List<Future<?>> running = new ArrayList<>();
      for (int session = 0; session < SESSIONS; session++) {
        running.add(
            sessions.submit(
                () -> {
                  for (int i = 0; i < BLOCKS * KEYS_A_BLOCK; i++) {
                    if (i % KEYS_A_BLOCK == 0) {
                      blocks.await();
                    }
                    if (workOnce(run, new IdempotencyKey(run, "key " + i), defect)
                        && firsts.incrementAndGet() % KEYS_A_TURN == 0) {
                      while (!turns.run()) {
                        Thread.onSpinWait(); // another session turns
                      }
                    }
                  }
                  return true;
                }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
    assertThat(part() - before).isGreaterThan(BLOCKS);
  }

  @TestFactory
  Stream<DynamicTest> theRaceFindsThatOnlyTheCurrentPartIsLookedInto() {
    return Breakage.requireRed(this);
  }

  /**
   * As a mint does: locks, looks, works, keeps; again while another session has the key. No machine
   * stands still for as long as its deadline.
   */
  private static boolean workOnce(String run, IdempotencyKey key, String defect) {
    while (true) {
      Attempt attempt =
          Deadline.after(Duration.ofMinutes(5))
              .call(() -> DATABASE.write("test", sql -> attempt(sql, run, key, defect)));
      if (attempt != Attempt.LOCKED) {
        return attempt == Attempt.WORKED;
      }
      Thread.onSpinWait();
    }
  }

  private enum Attempt {
    LOCKED,
    REPLAYED,
    WORKED
  }

  private static Attempt attempt(DSLContext sql, String run, IdempotencyKey key, String defect) {
    long hash = key.digest().getMostSignificantBits();
    IdempotencyTable.Locks locks = IdempotencyTable.lock(sql, List.of(hash), WAIT_MILLIS);
    if (locks.refused().contains(hash)) {
      return Attempt.LOCKED;
    }
    var found =
        defect.equals("current-part-only")
            ? IdempotencyTable.find(sql, List.of(PartTable.table(locks.part())), List.of(key))
            : IdempotencyTable.find(sql, locks.part(), List.of(key));
    if (!found.isEmpty()) {
      return Attempt.REPLAYED;
    }
    sql.execute("insert into worked values (?, ?)", run, key.text());
    assertThat(keep(sql, locks.part(), key, ANSWER)).isTrue();
    return Attempt.WORKED;
  }

  private static void partBegan(String ago) {
    DATABASE.write(
        "test",
        sql ->
            sql.execute(
                "update coatcheck.idempotency_turn set began_at = now() - interval '" + ago + "'"));
  }

  private static long part() {
    return part(DATABASE);
  }

  private static long part(Database database) {
    return database.read(
        "test",
        sql -> sql.fetchSingle("select part from coatcheck.idempotency_turn").get(0, Long.class));
  }

  private static long keep(IdempotencyKey key, StoredResponse answer) {
    long part = part();
    assertThat(DATABASE.<Boolean>write("test", sql -> keep(sql, part, key, answer))).isTrue();
    return part;
  }

  private static boolean keep(
      DSLContext sql, long part, IdempotencyKey key, StoredResponse answer) {
    IdempotencyTable.keep(sql, part, List.of(new IdempotencyTable.Entry(key, HASH, answer)));
    return true;
  }

  private static Map<IdempotencyKey, IdempotencyTable.Past> find(IdempotencyKey key) {
    return find(DATABASE, List.of(key));
  }

  private static Map<IdempotencyKey, IdempotencyTable.Past> find(
      Database database, List<IdempotencyKey> keys) {
    long part = part(database);
    return database.read("test", sql -> IdempotencyTable.find(sql, part, keys));
  }
}
