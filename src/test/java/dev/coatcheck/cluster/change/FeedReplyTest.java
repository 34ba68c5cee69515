package dev.coatcheck.cluster.change;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.change.FeedReply.Change;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** An instance that reads on after a gap has lost changes for ever, so every gap has to be seen. */
class FeedReplyTest {
  @Test
  void aReplyFollowsIfItHasEveryChangeAfterThePosition() {
    assertThat(reply(7, 5, 6, 7).follows(4)).isTrue();
    assertThat(reply(9, 5, 6, 7).follows(4)).as("the rest comes with the next read").isTrue();
    assertThat(reply(4).follows(4)).isTrue();
  }

  @Test
  void aReplyWithAGapDoesNotFollow() {
    assertThat(reply(7, 6, 7).follows(4)).as("the first is missing").isFalse();
    assertThat(reply(7, 5, 7).follows(4)).as("one in the middle is missing").isFalse();
    assertThat(reply(6, 4, 6).follows(4)).as("one is old, one is missing").isFalse();
    assertThat(reply(6).follows(4)).as("all are missing").isFalse();
  }

  @Test
  void aReplyFromBeforeThePositionDoesNotFollow() {
    assertThat(reply(3).follows(4)).as("the head went back").isFalse();
    assertThat(reply(5, 5, 6).follows(4)).as("more changes than the head tells").isFalse();
  }

  private static FeedReply.Read reply(long head, long... numbers) {
    return new FeedReply.Read(
        head,
        LongStream.of(numbers).mapToObj(number -> new Change(number, "ending", "x")).toList());
  }
}
