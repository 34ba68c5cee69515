package dev.coatcheck.core.id;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads the language-neutral vectors. */
final class Vectors {
  private Vectors() {}

  static List<JsonNode> read(String file) {
    String path = "/vectors/public-id/" + file;
    try (InputStream in = Objects.requireNonNull(Vectors.class.getResourceAsStream(path), path)) {
      JsonNode rows = JsonMapper.shared().readTree(in);
      return StreamSupport.stream(rows.spliterator(), false).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Token token(String hex) {
    return new Token(
        HexFormat.fromHexDigitsToLong(hex, 0, 16), HexFormat.fromHexDigitsToLong(hex, 16, 32));
  }
}
