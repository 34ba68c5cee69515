package dev.coatcheck.cluster.grant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.KeyOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How much is fetched, and when. The source replies at once, or not before it is told to. */
class SegmentBufferTest {
  private static final SegmentDefinition DEFINITION =
      new SegmentDefinition("tag", 1, 1, 64, 100, 1_000);

  private final List<Integer> asked = new ArrayList<>();
  private final List<Runnable> waiting = new ArrayList<>();
  private boolean replies = true;
  private long nano;
  private long next;

  private final SegmentBuffer buffer =
      new SegmentBuffer(
          (count, _) -> {
            int granted = Math.max(count, DEFINITION.stepMin());
            asked.add(granted);
            next += granted;
            return new SegmentGrant.Granted(DEFINITION, next - granted, granted);
          },
          task -> {
            if (replies) {
              task.run();
            } else {
              waiting.add(task);
            }
          },
          () -> nano);

  private void draw(int count) {
    assertThat(buffer.draw(count)).isInstanceOf(KeyOutcome.Drawn.class);
  }

  @Test
  void theNextRangeIsFetchedWhenATenthOfTheLastIsUsed() {
    draw(9);
    assertThat(asked).containsExactly(100);
    draw(1);
    assertThat(asked).containsExactly(100, 200);
    draw(80);
    assertThat(asked).as("two ranges are held").containsExactly(100, 200);
  }

  @Test
  void oneFetchIsUnderWayAtATime() {
    draw(1);
    replies = false;
    for (int i = 0; i < 50; i++) {
      draw(1);
    }

    assertThat(waiting).hasSize(1);
  }

  @Test
  void aRangeThatIsUsedUpSoonIsFollowedByALargerOneUpToTheBound() {
    for (int i = 0; i < 5_000; i++) {
      draw(1);
    }

    assertThat(asked).startsWith(100, 200, 400, 800, 1_000, 1_000);
    assertThat(asked).allMatch(count -> count <= 1_000);
  }

  @Test
  void aRangeThatLastsLongIsFollowedByASmallerOneDownToTheBound() {
    for (int i = 0; i < 2_000; i++) {
      draw(1);
    }
    asked.clear();
    for (int i = 0; i < 4_000; i++) {
      nano += TimeUnit.SECONDS.toNanos(60);
      draw(1);
    }

    assertThat(asked).startsWith(500, 250, 125, 100).endsWith(100);
  }

  @Test
  void aRangeThatLastsSomeMinutesIsFollowedByAnEqualOne() {
    draw(10);
    nano += TimeUnit.SECONDS.toNanos(300);
    draw(90 + 20);

    assertThat(asked).containsExactly(100, 200, 200);
  }

  @Test
  void aFetchThatFailsIsRepliedAndTheNextOneIsTried() {
    List<Integer> tries = new ArrayList<>();
    SegmentBuffer failing =
        new SegmentBuffer(
            (count, _) -> {
              tries.add(count);
              throw new IllegalStateException("broken");
            },
            Runnable::run,
            () -> nano);

    assertThat(failing.draw(1)).isInstanceOf(KeyOutcome.Refused.class);
    assertThat(failing.draw(1)).isInstanceOf(KeyOutcome.Refused.class);
    assertThat(tries).hasSize(2);
  }

  @Test
  void afterARefusalNothingIsFetchedAheadForASecond() {
    List<Integer> tries = new ArrayList<>();
    SegmentBuffer fenced =
        new SegmentBuffer(
            (count, _) -> {
              tries.add(count);
              return tries.size() == 1
                  ? new SegmentGrant.Granted(DEFINITION, 100, 100)
                  : new SegmentGrant.Refused(new KeyOutcome.Fenced());
            },
            Runnable::run,
            () -> nano);
    for (int i = 0; i < 50; i++) {
      assertThat(fenced.draw(1)).isInstanceOf(KeyOutcome.Drawn.class);
    }
    assertThat(tries).hasSize(2);

    nano += TimeUnit.SECONDS.toNanos(1);
    assertThat(fenced.draw(1)).isInstanceOf(KeyOutcome.Drawn.class);
    assertThat(tries).hasSize(3);
    assertThat(fenced.draw(60))
        .as("a fetch that a call needs")
        .isInstanceOf(KeyOutcome.Fenced.class);
    assertThat(tries).hasSize(4);
  }
}
