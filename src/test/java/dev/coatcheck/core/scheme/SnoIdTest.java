package dev.coatcheck.core.scheme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SnoIdTest {
  /** The example of github.com/muyo/sno, encoding_test.go. */
  @Test
  void readsAndWritesThePublishedExample() {
    SnoId id = SnoId.parse("brpk4q72xwf2m63l").orElseThrow();

    assertThat(id.metabyte()).isEqualTo(255);
    assertThat(id.partition()).isEqualTo(0x9a0a);
    assertThat(id.sequence()).isEqualTo(0x1033);
    assertThat(id.isTock()).isFalse();
    assertThat(id.time()).isEqualTo(Instant.parse("2031-05-08T23:03:34.976Z"));
    assertThat(id).hasToString("brpk4q72xwf2m63l");
  }

  @Test
  void everyIdHasOneTextAndTextsSortAsTheirFieldsDo() {
    Random random = new Random(7);
    List<SnoId> ids =
        IntStream.range(0, 20_000)
            .mapToObj(
                _ ->
                    new SnoId(
                        random.nextLong(SnoId.TICK_END),
                        random.nextBoolean(),
                        random.nextInt(256),
                        random.nextInt(65_536),
                        random.nextInt(65_536)))
            .toList();

    assertThat(ids).allSatisfy(id -> assertThat(SnoId.parse(id.toString())).contains(id));
    assertThat(ids.stream().sorted(java.util.Comparator.comparing(SnoId::toString)))
        .isSortedAccordingTo(
            java.util.Comparator.comparingLong(SnoId::tick)
                .thenComparing(SnoId::isTock)
                .thenComparingInt(SnoId::metabyte)
                .thenComparingInt(SnoId::partition)
                .thenComparingInt(SnoId::sequence));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "brpk4q72xwf2m63",
        "brpk4q72xwf2m63l2",
        "brpk4q72xwf2m63y",
        "BRPK4Q72XWF2M63L",
        "brpk4q72xwf2m630"
      })
  void anythingElseIsRefused(String text) {
    assertThat(SnoId.parse(text)).isEmpty();
  }

  @Test
  void metabyteAndPartitionCanBeChanged() {
    SnoId id = new SnoId(5, true, 1, 2, 3);

    assertThat(id.withMetabyte(255)).isEqualTo(new SnoId(5, true, 255, 2, 3));
    assertThat(id.withPartition(65_535)).isEqualTo(new SnoId(5, true, 1, 65_535, 3));
    assertThatThrownBy(() -> id.withMetabyte(256)).hasMessage("metabyte 256 is not within 0..255");
    assertThatThrownBy(() -> id.withPartition(-1))
        .hasMessage("partition -1 is not within 0..65535");
  }
}
