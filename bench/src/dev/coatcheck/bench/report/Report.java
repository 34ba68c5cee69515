package dev.coatcheck.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * All rows of a run.
 *
 * @param at when the run began, ISO 8601
 * @param conditions under which it ran, as connections and the generator: runs compare if they are
 *     the same
 * @param notes on what could not be measured as intended
 */
public record Report(
    String at, Map<String, String> conditions, List<String> notes, List<Row> rows) {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  public void write(Path file) throws IOException {
    Files.writeString(file, JSON.writeValueAsString(this) + "\n");
  }

  /**
   * Reads what {@link #write} has written.
   *
   * @throws IOException if the file can't be read, or is no report
   */
  public static Report read(Path file) throws IOException {
    try {
      Report report = JSON.readValue(Files.readString(file), Report.class);
      if (report.rows == null || report.conditions == null) {
        throw new IOException(file + " is no report of coatcheck bench.");
      }
      return report;
    } catch (JacksonException malformed) {
      throw new IOException(file + " is no report of coatcheck bench.", malformed);
    }
  }
}
