package dev.coatcheck.bulk.rows;

import dev.coatcheck.core.name.WireNamed;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;

/** One JSON object per line: flat, values are strings or null, no name twice, nothing after it. */
final class NdjsonLineReader implements LineReader {
  private static final JsonFactory JSON =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  @Override
  public @Nullable RowFault read(byte[] bytes, int from, int to, RowText into) {
    try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), bytes, from, to - from)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return RowFault.ROW_MALFORMED;
      }
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        Optional<Column> column = WireNamed.find(Column.class, parser.currentName());
        if (column.isEmpty()) {
          return RowFault.FIELD_UNKNOWN;
        }
        JsonToken value = parser.nextToken();
        if (value == JsonToken.VALUE_STRING) {
          into.set(column.get(), parser.getString());
        } else if (value != JsonToken.VALUE_NULL) {
          return RowFault.ROW_MALFORMED;
        }
      }
      // After the end of the object only white space is allowed.
      return parser.nextToken() == null ? null : RowFault.ROW_MALFORMED;
    } catch (JacksonException malformed) {
      return RowFault.ROW_MALFORMED;
    }
  }
}
