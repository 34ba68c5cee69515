package dev.coatcheck.ids.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.core.seal.TestSealKeys;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SealRulesTest {
  private static final Instant NOW = Instant.parse("2026-06-01T00:00:00Z");

  private static Type type(int eras) {
    List<Sealing.Era> all =
        IntStream.range(0, eras)
            .mapToObj(
                i ->
                    new Sealing.Era(
                        i == 0 ? Optional.empty() : Optional.of(Instant.EPOCH.plusSeconds(i)),
                        "%016x".formatted(i),
                        Optional.empty(),
                        Optional.empty()))
            .toList();
    Prefix prefix = new Prefix("msg");
    return new Type(
        1,
        "message",
        prefix,
        KeyKind.BIGINT,
        KeyGeneration.usual(KeyKind.BIGINT),
        new Salt(new byte[Salt.BYTES]),
        Policies.DEFAULT,
        ClientNames.DEFAULT,
        Optional.of(new Sealing(prefix, SnowflakeLayout.DEFAULT, Instant.EPOCH, all)),
        Optional.empty(),
        NOW,
        NOW,
        1);
  }

  private static Optional<PutOutcome> refusal(int eras, Duration ahead) {
    return SealRules.eraRefusal(
        type(eras), NOW.plus(ahead), TestSealKeys.FIRST, NOW, TestSealKeys.ALL);
  }

  /** An open tries all of them. */
  @Test
  void aTypeHasAtMost32Eras() {
    assertThat(refusal(31, Duration.ofHours(26))).isEmpty();
    assertThat(refusal(32, Duration.ofHours(26)))
        .contains(new PutOutcome.Refused("era_refused", "name", "A type has at most 32 eras."));
  }

  @Test
  void anEraStartsAnHourBeyondEveryKeyThatMayExist() {
    assertThat(refusal(1, Duration.ofHours(25))).isPresent();
    assertThat(refusal(1, Duration.ofHours(25).plusMillis(1))).isEmpty();
    assertThat(SealRules.earliest(type(2), NOW))
        .isEqualTo(NOW.plus(Duration.ofHours(25)).plusMillis(1));
  }
}
