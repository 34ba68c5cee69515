package dev.coatcheck.client;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** JSON as maps, lists, strings, longs, doubles and booleans. */
final class Json {
  private static final JsonFactory FACTORY = JsonFactory.builder().build();

  private Json() {}

  /**
   * Reads one object.
   *
   * @throws tools.jackson.core.JacksonException if the bytes are no JSON
   * @throws ClassCastException if they are no object
   */
  @SuppressWarnings("unchecked")
  static Map<String, @Nullable Object> read(byte[] bytes) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), bytes)) {
      parser.nextToken();
      Object read = value(parser);
      if (!(read instanceof Map) || parser.nextToken() != null) {
        throw new ClassCastException("not one object");
      }
      return (Map<String, @Nullable Object>) read;
    }
  }

  /** Writes what {@link #read} reads; values that are null are left out. */
  static byte[] write(Map<String, ? extends @Nullable Object> object) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (JsonGenerator generator = FACTORY.createGenerator(ObjectWriteContext.empty(), bytes)) {
      write(generator, object);
    }
    return bytes.toByteArray();
  }

  /** Whether a gateway takes it as a text: it has no NUL, and no half of a surrogate pair. */
  static boolean isText(String text) {
    return text.codePoints().noneMatch(c -> c == 0 || (c >= 0xD800 && c <= 0xDFFF));
  }

  private static @Nullable Object value(JsonParser parser) {
    JsonToken token = parser.currentToken();
    if (token == null) {
      return null;
    }
    return switch (token) {
      case START_OBJECT -> object(parser);
      case START_ARRAY -> array(parser);
      case VALUE_STRING -> parser.getString();
      case VALUE_NUMBER_INT -> parser.getLongValue();
      case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> null;
    };
  }

  private static Map<String, @Nullable Object> object(JsonParser parser) {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.nextToken();
      object.put(name, value(parser));
    }
    return object;
  }

  private static List<@Nullable Object> array(JsonParser parser) {
    List<@Nullable Object> array = new ArrayList<>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      array.add(value(parser));
    }
    return array;
  }

  private static void write(JsonGenerator generator, @Nullable Object value) {
    if (value instanceof Map<?, ?> object) {
      generator.writeStartObject();
      object.forEach(
          (name, field) -> {
            if (field != null) {
              generator.writeName((String) name);
              write(generator, field);
            }
          });
      generator.writeEndObject();
    } else if (value instanceof List<?> array) {
      generator.writeStartArray();
      array.forEach(item -> write(generator, item));
      generator.writeEndArray();
    } else if (value instanceof Boolean bool) {
      generator.writeBoolean(bool);
    } else if (value instanceof Number number) {
      generator.writeNumber(number.longValue());
    } else {
      generator.writeString(String.valueOf(value));
    }
  }
}
