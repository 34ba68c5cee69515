package dev.coatcheck.bench;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Gateway;
import dev.coatcheck.app.boot.OpenDatabase;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.CopyRows;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Writer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * P6: how fast a CSV file is taken in over HTTP by a gateway of its own, against a binary COPY of
 * as many rows into an identical table over one connection. The two take turns.
 */
public final class ImportSpeed {
  private static final long FIRST_KEY = 514_719_115_370_328_064L;

  private final CopyStore store;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI gateway;
  private final String key;

  private ImportSpeed(CopyStore store, URI gateway, String key) {
    this.store = store;
    this.gateway = gateway;
    this.key = key;
  }

  /** Rows a second, the median of the runs of each. */
  public record Result(double importRowsPerSecond, double copyRowsPerSecond) {
    public double ratio() {
      return importRowsPerSecond / copyRowsPerSecond;
    }
  }

  /**
   * Measures on the embedded Postgres of the configuration, which must be new.
   *
   * @param runs of each, after one that doesn't count
   */
  public static Result measure(Config config, int rows, int runs, Progress progress)
      throws StartFailed, IOException, InterruptedException {
    Path csv = Files.createTempFile("coatcheck-bench", ".csv");
    Path copy = Files.createTempFile("coatcheck-bench", ".copy");
    try (Gateway gateway = Gateway.start(config);
        OpenDatabase opened = OpenDatabase.openBeside(config, new Observer())) {
      writeCsv(csv, rows);
      writeCopy(copy, rows);
      String key = Files.readString(gateway.developmentKey().orElseThrow()).strip();
      ImportSpeed speed =
          new ImportSpeed(new CopyStore(opened.database()), URI.create(gateway.url()), key);
      return speed.measure(csv, copy, rows, runs, progress);
    } finally {
      Files.delete(csv);
      Files.delete(copy);
    }
  }

  private Result measure(Path csv, Path copy, int rows, int runs, Progress progress)
      throws IOException, InterruptedException {
    store.createTable();
    call(
        HttpRequest.newBuilder(gateway.resolve("/v1/types/bench"))
            .header("Content-Type", "application/json")
            .PUT(
                HttpRequest.BodyPublishers.ofString(
                    "{\"prefix\":\"bench\",\"key_scheme\":\"snowflake\"}")));
    List<Double> imports = new ArrayList<>();
    List<Double> copies = new ArrayList<>();
    for (int run = 0; run <= runs; run++) {
      store.reset();
      double imported = rows / secondsOfImport(csv, rows);
      progress.advanced(rows);
      store.reset();
      double copied = rows / secondsOfCopy(copy, rows);
      progress.advanced(rows);
      if (run > 0) {
        imports.add(imported);
        copies.add(copied);
      }
    }
    return new Result(median(imports), median(copies));
  }

  private double secondsOfImport(Path csv, int rows) throws IOException, InterruptedException {
    long from = System.nanoTime();
    String answer =
        call(
            HttpRequest.newBuilder(gateway.resolve("/v1/imports"))
                .header("Content-Type", "text/csv")
                .POST(HttpRequest.BodyPublishers.ofFile(csv)));
    double seconds = (System.nanoTime() - from) / 1e9;
    if (!answer.contains("\"created\":" + rows + ",")) {
      throw new IllegalStateException("not all were created: " + answer);
    }
    return seconds;
  }

  private double secondsOfCopy(Path copy, int rows) {
    long from = System.nanoTime();
    long copied = store.copy(copy);
    double seconds = (System.nanoTime() - from) / 1e9;
    if (copied != rows) {
      throw new IllegalStateException("not all were copied: " + copied);
    }
    return seconds;
  }

  private String call(HttpRequest.Builder request) throws IOException, InterruptedException {
    HttpResponse<String> response =
        client.send(
            request.header("Authorization", "Bearer " + key).build(),
            HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() >= 300) {
      throw new IllegalStateException(response.statusCode() + ": " + response.body());
    }
    return response.body();
  }

  private static void writeCsv(Path file, int rows) throws IOException {
    try (Writer csv = Files.newBufferedWriter(file)) {
      csv.write("type,key\n");
      for (int i = 0; i < rows; i++) {
        csv.write("bench," + (FIRST_KEY + i) + "\n");
      }
    }
  }

  /** The rows that the import will make, but for their random bits. */
  private static void writeCopy(Path file, int rows) throws IOException {
    TokenSource tokens = new TokenSource(new RandomSource());
    RandomSource random = new RandomSource();
    CopyRows some = new CopyRows(MappingRows.ROW_BYTES).begin();
    try (OutputStream copy = new BufferedOutputStream(Files.newOutputStream(file))) {
      for (int i = 0; i < rows; i++) {
        MappingRows.put(some, FIRST_KEY + i, tokens.next((int) random.nextLong() & 1023));
        copy.write(some.bytes(), 0, some.length());
        some.clear();
      }
      some.end();
      copy.write(some.bytes(), 0, some.length());
    }
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
  }
}
