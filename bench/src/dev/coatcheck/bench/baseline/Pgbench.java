package dev.coatcheck.bench.baseline;

import dev.coatcheck.bench.load.LoadResult;
import dev.coatcheck.bench.machine.MeasureFailed;
import dev.coatcheck.bench.machine.Tool;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.postgresql.Driver;
import org.postgresql.PGProperty;

/** pgbench, which runs a script with prepared statements in a closed loop. */
final class Pgbench {
  private static final Tool PGBENCH = Tool.named("pgbench");
  private static final Pattern COUNT =
      Pattern.compile("(?m)^number of transactions actually processed: (\\d+)");
  private static final Pattern FAILED =
      Pattern.compile("(?m)^number of failed transactions: (\\d+)");
  private static final Pattern RATE =
      Pattern.compile("(?m)^tps = ([\\d.]+) \\(without initial connection time\\)");
  private static final Pattern NOTHING_DONE =
      Pattern.compile("(?m)^number of transactions actually processed: 0$");
  private static final int TRIES_MAX = 5;
  private static final int JOBS = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);

  private final List<String> connection;
  private final Map<String, String> environment;

  Pgbench(DatabaseSettings settings) {
    Properties url = Driver.parseURL(settings.url(), new Properties());
    if (url == null) {
      throw new IllegalArgumentException("no JDBC URL of Postgres: " + settings.url());
    }
    this.connection =
        List.of(
            "--host=" + PGProperty.PG_HOST.getOrDefault(url),
            "--port=" + PGProperty.PG_PORT.getOrDefault(url),
            "--username=" + settings.user(),
            String.valueOf(PGProperty.PG_DBNAME.getOrDefault(url)));
    this.environment = Map.of("PGPASSWORD", settings.password());
  }

  static boolean isInstalled() {
    return PGBENCH.isInstalled();
  }

  /** Runs a script for so long, rounded up to seconds, with a connection for each client. */
  LoadResult run(String script, int clients, Duration time) {
    try {
      Path file = Files.createTempFile("coatcheck-bench", ".sql");
      try {
        Files.writeString(file, script);
        List<String> command = new ArrayList<>(List.of(PGBENCH.path().toString()));
        command.add("--no-vacuum");
        command.add("--protocol=prepared");
        command.add("--client=" + clients);
        command.add("--jobs=" + Math.min(JOBS, clients));
        command.add("--time=" + Math.max(1, (time.toMillis() + 999) / 1000));
        command.add("--file=" + file);
        command.addAll(connection);
        return firstResult(() -> Tool.output(command, environment));
      } finally {
        Files.delete(file);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Of the first run that did something: a busy machine may need a whole second to connect. */
  static LoadResult firstResult(Supplier<String> runs) {
    String output = runs.get();
    for (int tries = 1; tries < TRIES_MAX && NOTHING_DONE.matcher(output).find(); tries++) {
      output = runs.get();
    }
    return parse(output);
  }

  /** Reads the summary that pgbench prints at its end. */
  static LoadResult parse(String output) {
    Matcher count = COUNT.matcher(output);
    Matcher rate = RATE.matcher(output);
    if (!count.find() || !rate.find() || Long.parseLong(count.group(1)) == 0) {
      throw new MeasureFailed("pgbench printed no result: " + output.strip());
    }
    Matcher failed = FAILED.matcher(output);
    if (failed.find() && !failed.group(1).equals("0")) {
      throw new MeasureFailed("transactions of pgbench failed: " + output.strip());
    }
    long transactions = Long.parseLong(count.group(1));
    return LoadResult.of(transactions, transactions / Double.parseDouble(rate.group(1)));
  }
}
