package dev.coatcheck.tablemigration;

import tools.jackson.databind.json.JsonMapper;

/** Plans and knobs as the database keeps them. */
final class RunJson {
  private static final JsonMapper MAPPER = new JsonMapper();

  private RunJson() {}

  static String write(Object value) {
    return MAPPER.writeValueAsString(value);
  }

  static <T> T read(String json, Class<T> type) {
    return MAPPER.readValue(json, type);
  }
}
