package dev.coatcheck.bench.speed;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.bench.baseline.MappingRows;
import dev.coatcheck.bench.baseline.PostgresBaselines;
import dev.coatcheck.bench.load.LoadResult;
import dev.coatcheck.bench.machine.CpuClock;
import dev.coatcheck.bench.machine.GatewayProcess;
import dev.coatcheck.bench.report.Goal;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.postgres.sql.CopyRows;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * P6: how fast a CSV file is taken in over HTTP by a gateway of its own, against a binary COPY of
 * as many rows into an identical table over one connection. The two take turns.
 */
public final class ImportSpeed {
  private static final long FIRST_KEY = 514_719_115_370_328_064L;

  private final CopyStore store;
  private final Gateways gateways;
  private final GatewayProcess gateway;
  private final int rows;

  private ImportSpeed(CopyStore store, Gateways gateways, GatewayProcess gateway, int rows) {
    this.store = store;
    this.gateways = gateways;
    this.gateway = gateway;
    this.rows = rows;
  }

  /**
   * Measures on the embedded Postgres of the configuration, which must be new.
   *
   * @param folder for files of the run
   * @param runs of each, after one that doesn't count
   * @return the rows of P6
   */
  public static List<Row> measure(Config config, Path folder, int rows, int runs, Progress progress)
      throws StartFailed, IOException, InterruptedException {
    Path csv = folder.resolve("import.csv");
    Path copy = folder.resolve("import.copy");
    writeCsv(csv, rows);
    writeCopy(copy, rows);
    try (Gateways gateways = Gateways.open(config, folder);
        PostgresBaselines postgres = new PostgresBaselines(gateways.database(), rows);
        CopyStore store = new CopyStore(gateways.database());
        GatewayProcess gateway = gateways.start(0)) {
      gateways.register(gateway.url());
      return new ImportSpeed(store, gateways, gateway, rows)
          .measure(csv, copy, runs, postgres.cpu(), progress);
    }
  }

  private List<Row> measure(Path csv, Path copy, int runs, CpuClock postgres, Progress progress) {
    store.createTable();
    List<Side> sides =
        List.of(
            new Side("the gateway", _ -> LoadResult.of(rows, secondsOfImport(csv)), gateway.cpu()),
            new Side(
                "binary COPY", _ -> LoadResult.of(rows, secondsOfCopy(copy)), CpuClock.unknown()));
    List<List<Side.Turn>> turns = List.of(new ArrayList<>(), new ArrayList<>());
    for (int run = 0; run <= runs; run++) {
      for (int i = 0; i < sides.size(); i++) {
        store.reset();
        Side.Turn turn = sides.get(i).during(Duration.ZERO, postgres);
        progress.advanced(rows);
        if (run > 0) {
          turns.get(i).add(turn);
        }
      }
    }
    Turns imports = new Turns(sides.get(0), turns.get(0));
    Turns copies = new Turns(sides.get(1), turns.get(1));
    return new Rows(Measure.P6, "CSV import of %,d rows".formatted(rows))
        .rate("rows a second", imports, copies, Optional.of(Goal.ratioAtLeast(0.8)))
        .gatewayCpu(imports, copies, Optional.empty())
        .postgresCpu(imports, copies, Optional.empty())
        .all();
  }

  private double secondsOfImport(Path csv) {
    long from = System.nanoTime();
    String answer;
    try {
      answer =
          gateways.call(
              HttpRequest.newBuilder(gateway.url().resolve("/v1/imports"))
                  .header("Content-Type", "text/csv")
                  .POST(HttpRequest.BodyPublishers.ofFile(csv)));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", stopped);
    }
    double seconds = (System.nanoTime() - from) / 1e9;
    if (!answer.contains("\"created\":" + rows + ",")) {
      throw new IllegalStateException("not all were created: " + answer);
    }
    return seconds;
  }

  private double secondsOfCopy(Path copy) {
    long from = System.nanoTime();
    long copied = store.copy(copy);
    double seconds = (System.nanoTime() - from) / 1e9;
    if (copied != rows) {
      throw new IllegalStateException("not all were copied: " + copied);
    }
    return seconds;
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
}
