package dev.coatcheck.core.older;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.key.Key;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TypeIdsTest {
  /** From the valid examples of the specification. */
  @ParameterizedTest
  @CsvSource({
    "'', 00000000000000000000000000, 00000000-0000-0000-0000-000000000000",
    "'', 00000000000000000000000001, 00000000-0000-0000-0000-000000000001",
    "'', 0000000000000000000000000g, 00000000-0000-0000-0000-000000000010",
    "'', 00000000000000000000000010, 00000000-0000-0000-0000-000000000020",
    "'', 7zzzzzzzzzzzzzzzzzzzzzzzzz, ffffffff-ffff-ffff-ffff-ffffffffffff",
    "prefix, prefix_0123456789abcdefghjkmnpqrs, 0110c853-1d09-52d8-d73e-1194e95b5f19",
    "prefix, prefix_01h455vb4pex5vsknk084sn02q, 01890a5d-ac96-774b-bcce-b302099a8057",
    "pre_fix, pre_fix_00000000000000000000000000, 00000000-0000-0000-0000-000000000000",
  })
  void aTypeIdIsItsUuid(String prefix, String text, UUID uuid) {
    assertThat(new TypeIds(prefix).decode(text))
        .isEqualTo(Optional.of(new Decoded.OfUuid(new Key.Uuid(uuid))));
  }

  /** From the invalid examples of the specification, and others. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "PREFIX_00000000000000000000000000",
        "_00000000000000000000000000",
        "00000000000000000000000000",
        "prefix_1234567890123456789012345",
        "prefix_123456789012345678901234567",
        "prefix_1234567890123456789012345 ",
        "prefix_0123456789ABCDEFGHJKMNPQRS",
        "prefix_ooooooiiiiiiuuuuuuulllllll",
        "prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz",
        "prefix__0000000000000000000000000",
        "prefix_0000000000000000000000000é",
        "prefix_",
        ""
      })
  void whatIsNoneIsRefused(String text) {
    assertThat(new TypeIds("prefix").decode(text)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Prefix", "_prefix", "prefix_", "pre-fix", "pre fix", "préfix", "pre1"})
  void whatIsNoPrefixIsRefused(String prefix) {
    assertThat(TypeIds.isTypeName(prefix)).isFalse();
    assertThatThrownBy(() -> new TypeIds(prefix)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aPrefixHasUpTo63Characters() {
    assertThat(TypeIds.isTypeName("a".repeat(63))).isTrue();
    assertThat(TypeIds.isTypeName("a".repeat(64))).isFalse();
  }

  @Test
  void aUuidHasOneText() {
    Uuids rule = new Uuids();

    assertThat(rule.decode("01890a5d-ac96-774b-bcce-b302099a8057"))
        .contains(
            new Decoded.OfUuid(
                new Key.Uuid(UUID.fromString("01890a5d-ac96-774b-bcce-b302099a8057"))));
    assertThat(rule.decode("01890A5D-ac96-774b-bcce-b302099a8057")).isEmpty();
    assertThat(rule.decode("01890a5dac96774bbcceb302099a8057")).isEmpty();
  }
}
