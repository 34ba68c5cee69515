package dev.coatcheck.core.formats;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.scheme.LeasedSnos;
import dev.coatcheck.core.scheme.RocketMqId;
import dev.coatcheck.core.scheme.SnoId;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Snos and RocketMQ's identifiers are keys in another form: the inspector reads them back. */
class LeasedTextsTest {
  private static final Instant NOW = Instant.parse("2026-11-22T12:34:56.789Z");

  @Test
  void aSnoTellsTheTickAndTheWorkerOfItsKey() {
    SnowflakeLayout layout = LeasedSnos.LAYOUT;
    long key = layout.key(layout.position(NOW.toEpochMilli()) + 5, 200);

    String text = LeasedSnos.of(key, 77).toString();

    assertThat(candidate(text, "sno").time()).contains(NOW.minusMillis(1));
    assertThat(candidate(text, "sno").fields())
        .containsEntry("tick_tock", 0L)
        .containsEntry("metabyte", 77L)
        .containsEntry("partition", 200L)
        .containsEntry("sequence", (1L << 14) + 5);
  }

  @Test
  void aMessageIdentifierTellsTheSecondOfItsKeyAndAnAddressThatNoCardHas() {
    SnowflakeLayout layout = RocketMqId.LAYOUT;
    long key = layout.key(layout.position(NOW.toEpochMilli()) + 5, 200);

    String text = RocketMqId.of(key);

    assertThat(text).hasSize(34).startsWith("0102636F6174C80001");
    assertThat(candidate(text, "rocketmq.v1").time())
        .contains(Instant.parse("2026-11-22T12:34:56Z"));
    assertThat(candidate(text, "rocketmq.v1").fields())
        .containsEntry("mac", "02:63:6f:61:74:c8")
        .containsEntry("sequence", (789L << 14) + 5);
  }

  /** And in the order of the keys of a worker. */
  @Test
  void keysThatDifferHaveTextsThatDiffer() {
    Random random = new Random(7);
    Set<String> snos = new HashSet<>();
    Set<String> messages = new HashSet<>();
    String sno = "";
    String message = "";
    long position = LeasedSnos.LAYOUT.position(NOW.toEpochMilli());
    for (int i = 0; i < 50_000; i++) {
      position += 1 + random.nextInt(random.nextInt(100) == 0 ? 100_000 : 3);
      SnoId nextSno = LeasedSnos.of(LeasedSnos.LAYOUT.key(position, 3), 0);
      assertThat(nextSno.toString()).isGreaterThan(sno);
      sno = nextSno.toString();
      snos.add(sno);
      String nextMessage =
          RocketMqId.of(
              RocketMqId.LAYOUT.key(
                  RocketMqId.LAYOUT.position(LeasedSnos.LAYOUT.millisOf(position))
                      + (position & LeasedSnos.LAYOUT.sequenceMax()),
                  3));
      assertThat(nextMessage).isGreaterThan(message);
      message = nextMessage;
      messages.add(message);
    }
    assertThat(snos).hasSize(50_000);
    assertThat(messages).hasSize(50_000);
  }

  private static Candidate candidate(String text, String format) {
    return Inspector.inspect(text, List.of(), NOW).candidates().stream()
        .filter(found -> found.format().equals(format))
        .findFirst()
        .orElseThrow();
  }
}
