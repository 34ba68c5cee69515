package dev.coatcheck.core.id;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.StreamSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Another implementation computed the vectors; this one agrees with it. */
final class VectorsTest {
  static Iterable<JsonNode> valid() {
    return read("valid.json");
  }

  static Iterable<JsonNode> invalid() {
    return read("invalid.json");
  }

  static Iterable<JsonNode> buckets() {
    return read("buckets.json");
  }

  @ParameterizedTest
  @MethodSource("valid")
  void validTextsParseAndAreFormatted(JsonNode row) {
    PublicId id = new PublicId(new Prefix(text(row, "prefix")), token(text(row, "token_hex")));

    assertThat(PublicId.parse(text(row, "text"))).isEqualTo(new ParsedId.Valid(id));
    assertThat(id).hasToString(text(row, "text"));
    assertThat(id.token().bucket()).isEqualTo(row.get("bucket").intValue());
    assertThat(id.token()).hasToString(text(row, "token_hex"));
  }

  @ParameterizedTest
  @MethodSource("invalid")
  void malformedTextsAreRefusedForTheirReasonAtTheirPosition(JsonNode row) {
    assertThat(PublicId.parse(text(row, "text")))
        .isInstanceOfSatisfying(
            ParsedId.Malformed.class,
            refused -> {
              assertThat(refused.reason().wireName()).isEqualTo(text(row, "reason"));
              assertThat(refused.position()).isEqualTo(row.get("position").intValue());
            });
  }

  @ParameterizedTest
  @MethodSource("buckets")
  void bucketsAreTheFirstTenBitsOfTheDigest(JsonNode row) {
    assertThat(bucket(row)).isEqualTo(row.get("bucket").intValue());
  }

  private static int bucket(JsonNode row) {
    return switch (text(row, "kind")) {
      case "key_bigint" ->
          Bucket.ofKey(
              salt(row), ByteBuffer.allocate(8).putLong(Long.parseLong(text(row, "key"))).array());
      case "key_uuid" ->
          Bucket.ofKey(salt(row), Token.of(UUID.fromString(text(row, "key"))).toBytes());
      case "alias" -> Bucket.ofAlias(salt(row), text(row, "scheme"), text(row, "value"));
      case "idempotency" -> Bucket.ofIdempotencyKey(text(row, "owner"), text(row, "key"));
      default -> throw new AssertionError(row);
    };
  }

  private static byte[] salt(JsonNode row) {
    return HexFormat.of().parseHex(text(row, "salt_hex"));
  }

  private static String text(JsonNode row, String field) {
    return row.get(field).stringValue();
  }

  private static List<JsonNode> read(String file) {
    String path = "/vectors/public-id/" + file;
    try (InputStream in =
        Objects.requireNonNull(VectorsTest.class.getResourceAsStream(path), path)) {
      JsonNode rows = JsonMapper.shared().readTree(in);
      return StreamSupport.stream(rows.spliterator(), false).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Token token(String hex) {
    return new Token(
        HexFormat.fromHexDigitsToLong(hex, 0, 16), HexFormat.fromHexDigitsToLong(hex, 16, 32));
  }
}
