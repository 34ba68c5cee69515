package dev.coatcheck.migrate.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.UnfencedSession;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows whose times are wrong don't change the times of others. */
class KeyTimesTest {
  private static final long EPOCH_MILLIS = 1_672_531_200_000L;
  private static final long DAY_MILLIS = 86_400_000;
  private static final int MILLIS_MAX = 20_000;

  @RegisterExtension static final MigrationFixture fixture = MigrationFixture.apart();

  /** Dated yesterday, as a row is that was restored from a backup; with 0, none is. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 512, 700})
  void aLookUpBeforeTheBackfillTakesItsTimeFromNobody(int restored) {
    List<@Nullable Long> created = steady(1_000);
    List<Integer> ids = List.of(1_000);
    if (restored > 0) {
      created.set(restored - 1, now() - DAY_MILLIS);
      ids = List.of(restored, restored + 1, restored + 200);
    }
    Target target = expanded("looked_up_" + restored, created);
    FillOnDemandTable lookUp = new FillOnDemandTable(fixture.source, target);
    List<Long> found = ids.stream().map(id -> lookUp.find(id).orElseThrow()).toList();

    try (SourceSession session = UnfencedSession.open(fixture.settings, target)) {
      fixture.fill(session, target, 2 * KeyTimes.BLOCK);
    }

    List<Long> keys = keys(target);
    assertThat(keys).isSorted().doesNotHaveDuplicates();
    assertThat(ids).extracting(id -> keys.get(id - 1)).isEqualTo(found);
    assertThat(off(created, target)).isEqualTo(restored > 0 ? 1 : 0);
  }

  /** Against the rule, row by row: no block may begin anywhere and refuse the time. */
  @Test
  void aTimeIsCertainIfEveryBlockThatMayFollowBearsItOut() {
    Random random = new Random(1);
    for (int round = 0; round < 20; round++) {
      int rows = KeyTimes.LOOK_AHEAD + 1 + random.nextInt(300);
      OptionalLong[] stated =
          IntStream.range(0, rows)
              .mapToObj(
                  row ->
                      random.nextInt(4) == 0
                          ? OptionalLong.empty()
                          : OptionalLong.of(row + random.nextInt(200)))
              .toArray(OptionalLong[]::new);

      boolean[] kept = KeyTimes.certainlyKept(stated, DAY_MILLIS);

      // Each of a hundred rows asks for the median of the same block.
      long[] medians =
          IntStream.rangeClosed(0, rows - KeyTimes.BLOCK)
              .mapToLong(from -> lowerMedian(stated, from))
              .toArray();
      for (int row = 0; row < rows - KeyTimes.LOOK_AHEAD; row++) {
        long time = stated[row].orElse(Long.MAX_VALUE);
        boolean isBorneOut =
            IntStream.rangeClosed(row + 1, row + KeyTimes.BLOCK)
                .allMatch(next -> time <= medians[next]);
        assertThat(kept[row]).as("round %d, row %d", round, row).isEqualTo(isBorneOut);
      }
    }
  }

  private static long lowerMedian(OptionalLong[] times, int from) {
    long[] sorted =
        Arrays.stream(times, from, from + KeyTimes.BLOCK)
            .flatMapToLong(OptionalLong::stream)
            .sorted()
            .toArray();
    return sorted[(sorted.length - 1) / 2];
  }

  /** Against the rule as the documents have it; good rows keep their times. */
  @Test
  void everySizeOfBatchGivesTheSameKeysWhateverTheTimes() {
    long seed = Long.getLong("seed", System.nanoTime());
    System.out.println("KeyTimesTest: -Dseed=" + seed);
    Random random = new Random(seed);
    for (Spoiling spoiling : Spoiling.values()) {
      int rows = 300 + random.nextInt(300);
      List<@Nullable Long> good = steady(rows);
      List<@Nullable Long> created = new ArrayList<>(good);
      spoiling.spoil(created, random);
      String table = spoiling.name().toLowerCase(Locale.ROOT);

      Target whole = filled(table, created, 49_920);
      Target broken = filledWithInterruptions(table + "_broken", created, random);

      List<Long> keys = keys(whole);
      assertThat(keys(broken)).as("%s", spoiling).isEqualTo(keys);
      Checkpoint at = checkpoint(whole);
      assertThat(keys)
          .as("%s", spoiling)
          .isEqualTo(
              KeyModel.keys(
                  created, at.t0Millis(), SnowflakeLayout.DEFAULT.positionAbove(at.highId())));
      assertThat(at.counts().timesLost()).isEqualTo(KeyModel.lost(created, at.t0Millis()));
      assertThat(at.counts().beforeEpoch())
          .isEqualTo(created.stream().filter(time -> time != null && time < 0).count());
      assertThat(counts(broken)).isEqualTo(at.counts());
      long off =
          IntStream.range(0, rows)
              .filter(i -> isOff(good.get(i), created.get(i), keys.get(i)))
              .count();
      assertThat(off).as("%s", spoiling).isLessThanOrEqualTo(KeyTimes.BLOCK);
    }
  }

  /** What befalls times. Up to one in a hundred, or a run of fifty. */
  private enum Spoiling {
    SCATTERED,
    RUN_IN_THE_MIDDLE,
    RUN_AT_THE_START,
    RUN_AT_THE_END,
    NULLS_AND_TIES,
    DATED_BACK,
    /** By hours, so that the exact rows of a block decide about many times. */
    JITTERED;

    void spoil(List<@Nullable Long> created, Random random) {
      int rows = created.size();
      for (int i = 0; i < rows; i++) {
        boolean isHit =
            switch (this) {
              case SCATTERED, DATED_BACK -> random.nextInt(100) == 0;
              case RUN_IN_THE_MIDDLE -> i >= rows / 2 && i < rows / 2 + 50;
              case RUN_AT_THE_START -> i < 50;
              case RUN_AT_THE_END -> i >= rows - 50;
              case NULLS_AND_TIES -> random.nextInt(3) > 0;
              case JITTERED -> true;
            };
        if (isHit) {
          created.set(i, time(i, created, random));
        }
      }
    }

    private @Nullable Long time(int i, List<@Nullable Long> created, Random random) {
      return switch (this) {
        case NULLS_AND_TIES ->
            random.nextBoolean() || i == 0 || created.get(i - 1) == null
                ? null
                : created.get(i - 1);
        case JITTERED -> Objects.requireNonNull(created.get(i)) + random.nextLong(DAY_MILLIS / 4);
        case DATED_BACK -> Objects.requireNonNull(created.get(i)) - random.nextLong(DAY_MILLIS);
        default ->
            switch (random.nextInt(3)) {
              case 0 -> now() + random.nextLong(50_000 * DAY_MILLIS);
              case 1 -> -1 - random.nextLong(10_000 * DAY_MILLIS);
              default -> now() - DAY_MILLIS - random.nextLong(60_000);
            };
      };
    }
  }

  /** Counts good rows only. */
  private static boolean isOff(@Nullable Long good, @Nullable Long stated, long key) {
    return good != null && good.equals(stated) && Math.abs((key >> 22) - good) > 1_000;
  }

  private long off(List<@Nullable Long> created, Target target) {
    List<Long> keys = keys(target);
    long off = 0;
    for (int i = 0; i < keys.size(); i++) {
      Long time = created.get(i);
      off += time != null && time >= 0 && Math.abs((keys.get(i) >> 22) - time) > 1_000 ? 1 : 0;
    }
    return off;
  }

  /** A row each minute, the last a week ago. */
  private static List<@Nullable Long> steady(int rows) {
    long end = now() - 7 * DAY_MILLIS;
    List<@Nullable Long> created = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      created.add(end - (rows - i) * 60_000L);
    }
    return created;
  }

  private static long now() {
    return System.currentTimeMillis() - EPOCH_MILLIS;
  }

  private Target filled(String table, List<@Nullable Long> created, int batch) {
    Target target = expanded(table, created);
    try (SourceSession session = UnfencedSession.open(fixture.settings, target)) {
      fixture.fill(session, target, batch);
    }
    return target;
  }

  /** Batches of any size, some of them rolled back, and a new runner now and then. */
  private Target filledWithInterruptions(
      String table, List<@Nullable Long> created, Random random) {
    Target target = expanded(table, created);
    for (long fence = 1; ; fence++) {
      try (SourceSession session = UnfencedSession.open(fixture.settings, target)) {
        session.fence(fence);
        Backfill backfill = new Backfill(session, target, Optional.empty(), _ -> Set.of());
        Checkpoint at = backfill.checkpoint();
        for (int batches = random.nextInt(4); batches >= 0 && !at.isAtEnd(); batches--) {
          Backfill.Range range = new Backfill.Range(at.lastId(), at.highId(), at.lastPosition());
          int rows = KeyTimes.BLOCK * (1 + random.nextInt(6));
          if (fence == 2 || random.nextInt(4) == 0) {
            backfill.setAside(
                range, new Backfill.Outcome.Failed(SetAside.Cause.SLOW, "slow"), fence, MILLIS_MAX);
          } else {
            assertThat(backfill.fill(range, rows, fence, MILLIS_MAX))
                .isInstanceOf(Backfill.Outcome.Filled.class);
          }
          at = backfill.checkpoint();
        }
        if (at.isAtEnd()) {
          long last = fence;
          backfill.retry(
              0,
              EnumSet.allOf(SetAside.Cause.class),
              some -> backfill.fill(some, last, MILLIS_MAX));
          return target;
        }
      }
    }
  }

  private Target expanded(String table, List<@Nullable Long> created) {
    fixture.execute(
        "create table " + table + " (id bigserial primary key, created_at timestamptz)");
    StringBuilder values = new StringBuilder();
    for (Long time : created) {
      values
          .append(values.isEmpty() ? "" : ",")
          .append(time == null ? "null" : time + EPOCH_MILLIS);
    }
    fixture.execute(
        "insert into %s (created_at) select to_timestamp(ms / 1000.0) from unnest('{%s}'::bigint[])"
                .formatted(table, values)
            + " with ordinality as u (ms, n) order by n");
    Target target =
        fixture.target(new TableName("public", table), "id", MigrationFixture.createdAt());
    fixture.apply(target, Phase.EXPAND);
    return target;
  }

  private List<Long> keys(Target target) {
    return fixture.column("select snowflake_id from " + target.table().quoted() + " order by id");
  }

  private Checkpoint.Counts counts(Target target) {
    return checkpoint(target).counts();
  }

  private Checkpoint checkpoint(Target target) {
    try (SourceSession session = UnfencedSession.open(fixture.settings, target)) {
      return new Backfill(session, target, Optional.empty(), _ -> Set.of()).checkpoint();
    }
  }
}
