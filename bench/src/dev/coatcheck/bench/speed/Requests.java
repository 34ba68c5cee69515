package dev.coatcheck.bench.speed;

import dev.coatcheck.bench.baseline.NumberedRows;
import dev.coatcheck.bench.load.LoadSpec;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import java.io.IOException;
import java.io.Writer;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The requests that a gateway is measured with, all about one type. */
record Requests(URI gateway, String key, int connections) {
  static final String TYPE = "bench";
  static final int BATCH_ROWS = 1_000;
  static final int BATCH_CONNECTIONS = 4;
  static final String LOCATION = "https://example.com/things/";

  private static final Prefix PREFIX = new Prefix("bench");

  /** What registers the type. */
  static final String DEFINITION =
      """
      {"prefix":"%s","key":"bigint","redirect":{"template":"%s{id}"}}\
      """
          .formatted(PREFIX.value(), LOCATION);

  /** Writes the IDs of the first so many of the {@link NumberedRows}, one a line. */
  static Path writeIds(Path file, int rows) throws IOException {
    try (Writer lines = Files.newBufferedWriter(file)) {
      for (int i = 0; i < rows; i++) {
        lines.write(new PublicId(PREFIX, NumberedRows.token(i)) + "\n");
      }
    }
    return file;
  }

  LoadSpec batches() {
    return post("/v1/ids/batch", "{\"type\":\"bench\",\"count\":" + BATCH_ROWS + "}")
        .over(BATCH_CONNECTIONS);
  }

  LoadSpec keys(String layout, int count) {
    return post(
        "/v1/keys",
        "{\"scheme\":\"snowflake\",\"layout\":\"%s\",\"count\":%d}".formatted(layout, count));
  }

  LoadSpec mints() {
    return post("/v1/ids", "{\"type\":\"bench\"}");
  }

  LoadSpec resolves(Path ids) {
    return get("/v1/ids/{id}", authorization(), Optional.of(ids));
  }

  /** The first IDs of the file, all in one request. */
  LoadSpec batchResolves(Path ids) throws IOException {
    try (Stream<String> lines = Files.lines(ids)) {
      return post(
              "/v1/ids/resolve",
              lines.limit(BATCH_ROWS).collect(Collectors.joining("\",\"", "{\"ids\":[\"", "\"]}")))
          .over(BATCH_CONNECTIONS);
    }
  }

  LoadSpec redirects(Path ids) {
    return get("/r/{id}", Map.of(), Optional.of(ids));
  }

  /** Requests that the gateway answers without doing anything. */
  LoadSpec nothing() {
    return get("/health/live", Map.of(), Optional.empty());
  }

  private LoadSpec get(String path, Map<String, String> headers, Optional<Path> ids) {
    return new LoadSpec(
        gateway.getHost(), gateway.getPort(), connections, "GET", path, headers, "", ids);
  }

  private LoadSpec post(String path, String json) {
    return new LoadSpec(
        gateway.getHost(),
        gateway.getPort(),
        connections,
        "POST",
        path,
        Map.of("Authorization", "Bearer " + key, "Content-Type", "application/json"),
        json,
        Optional.empty());
  }

  private Map<String, String> authorization() {
    return Map.of("Authorization", "Bearer " + key);
  }
}
