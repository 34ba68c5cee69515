package dev.coatcheck.id;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.id.ParsedPublicId.Malformed;
import dev.coatcheck.id.ParsedPublicId.Reason;
import dev.coatcheck.id.ParsedPublicId.Valid;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.StreamSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The vectors hold for the library as they hold for the gateway. */
class VectorsTest {
  @PublicIdType(prefix = "ch")
  static final class Charge {}

  static List<JsonNode> valid() throws IOException {
    return read("valid.json");
  }

  static List<JsonNode> invalid() throws IOException {
    return read("invalid.json");
  }

  @ParameterizedTest
  @MethodSource("valid")
  void aValidTextIsAPublicIdOfItsTypeOnly(JsonNode row) {
    String text = row.get("text").stringValue();
    String prefix = row.get("prefix").stringValue();

    assertThat(PublicId.prefixOf(text)).hasValue(prefix);
    assertThat(PublicId.parse(Charge.class, text))
        .isEqualTo(
            prefix.equals("ch")
                ? new Valid<>(PublicId.of(Charge.class, text))
                : new ParsedPublicId.WrongType<>("ch", prefix));
  }

  @ParameterizedTest
  @MethodSource("invalid")
  void aMalformedTextIsRefusedForItsReasonAtItsPosition(JsonNode row) {
    Reason reason = Reason.valueOf(row.get("reason").stringValue().toUpperCase(Locale.ROOT));

    assertThat(PublicId.parse(Charge.class, row.get("text").stringValue()))
        .isEqualTo(new Malformed<>(reason, row.get("position").intValue()));
  }

  private static List<JsonNode> read(String file) throws IOException {
    String path = "/vectors/public-id/" + file;
    try (InputStream in =
        Objects.requireNonNull(VectorsTest.class.getResourceAsStream(path), path)) {
      JsonNode rows = JsonMapper.shared().readTree(in);
      return StreamSupport.stream(rows.spliterator(), false).toList();
    }
  }
}
