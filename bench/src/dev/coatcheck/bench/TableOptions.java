package dev.coatcheck.bench;

import dev.coatcheck.app.client.Misused;
import dev.coatcheck.bench.load.Generator;
import dev.coatcheck.bench.report.Report;
import dev.coatcheck.bench.speed.HttpSpeed;
import dev.coatcheck.bench.speed.Measure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What {@code coatcheck bench table} takes, but for the database. */
final class TableOptions {
  private static final Set<Measure> OF_CONNECTIONS =
      EnumSet.of(Measure.P1, Measure.P2, Measure.P3, Measure.P4, Measure.P8, Measure.P18);

  @Parameters(
      paramLabel = "MEASURE",
      split = ",",
      arity = "0..*",
      description =
          "Comma list of ${COMPLETION-CANDIDATES}. Default: all; with --quick without P11, P12, P17"
              + " and P18; with a database of yours P1 to P5, P8 and P18.")
  private @Nullable List<Measure> measures;

  @Option(
      names = "--quick",
      description =
          "In some five minutes: 2 s a round, 3 rounds, 6 s of warm-up, 100000 rows, and without"
              + " the measures that take a minute each (P11, P12, P17 and P18), unless they are"
              + " named.")
  private boolean quick;

  @Option(
      names = "--seconds",
      description = "Whole seconds of a round, 1 to 60. Default: 5, or 2 with --quick.")
  private @Nullable Integer seconds;

  @Option(
      names = "--rounds",
      description = "Rounds of each, 1 to 100. Default: 5, or 3 with --quick.")
  private @Nullable Integer rounds;

  @Option(
      names = "--warm-up",
      description =
          "Whole seconds before the rounds of each measure, 0 to 600. Default: 60, or 6 with"
              + " --quick.")
  private @Nullable Integer warmUp;

  @Option(
      names = "--rows",
      description =
          "Mappings before the start, and rows of P6 (of P7 half as many), 1000 to 10000000."
              + " Default: 1000000, or 100000 with --quick.")
  private @Nullable Integer rows;

  @Option(
      names = "--connections",
      description = "That send requests at the same time, 1 to 1024. Default: 64.")
  private @Nullable Integer connections;

  @Option(
      names = "--generator",
      description =
          "What sends the requests of closed loops, ${COMPLETION-CANDIDATES}. Default: WRK where"
              + " wrk is installed.")
  private @Nullable Generator generator;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the report to a file.")
  private @Nullable Path json;

  @Option(
      names = "--svg",
      paramLabel = "FILE",
      description = "Draws the ratios against their goals, to a file.")
  private @Nullable Path svg;

  @Option(
      names = "--compare",
      paramLabel = "FILE",
      description = "Compares with the report of an earlier run, a file that --json has written.")
  private @Nullable Path compare;

  Set<Measure> measures(boolean hasDatabase) {
    if (measures != null) {
      return EnumSet.copyOf(measures);
    }
    Set<Measure> all = hasDatabase ? Measure.ofRequests() : EnumSet.allOf(Measure.class);
    if (quick) {
      all.removeAll(Measure.ofMinutes());
    }
    return all;
  }

  HttpSpeed.Plan plan(boolean hasDatabase) {
    return new HttpSpeed.Plan(
        measures(hasDatabase),
        either(connections, 64, 64),
        rows(),
        Duration.ofSeconds(either(seconds, 5, 2)),
        rounds(),
        Duration.ofSeconds(either(warmUp, 60, 6)),
        generator == null ? Generator.best() : generator);
  }

  int rows() {
    return either(rows, 1_000_000, 100_000);
  }

  int rounds() {
    return either(rounds, 5, 3);
  }

  Optional<Path> json() {
    return Optional.ofNullable(json);
  }

  Optional<Path> svg() {
    return Optional.ofNullable(svg);
  }

  private int either(@Nullable Integer given, int otherwise, int quickly) {
    return given != null ? given : quick ? quickly : otherwise;
  }

  /** Reads the report to compare with. */
  Optional<Report> earlier() throws Misused {
    if (compare == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(Report.read(compare));
    } catch (IOException unreadable) {
      throw new Misused(
          "--compare needs a file that --json has written, and " + compare + " is none.");
    }
  }

  /** Refuses what makes no sense, all of it at once. */
  void requireSane(boolean hasDatabase) throws Misused {
    List<String> faults = new ArrayList<>();
    requireWithin(faults, "--seconds", seconds, 1, 60);
    requireWithin(faults, "--rounds", rounds, 1, 100);
    requireWithin(faults, "--warm-up", warmUp, 0, 600);
    requireWithin(faults, "--rows", rows, 1_000, 10_000_000);
    requireWithin(faults, "--connections", connections, 1, 1_024);
    if (generator == Generator.WRK && Generator.best() != Generator.WRK) {
      faults.add("wrk is not installed: install it, or leave out --generator=WRK.");
    }
    if (connections != null && measures(hasDatabase).stream().noneMatch(OF_CONNECTIONS::contains)) {
      faults.add("--connections changes only P1, P2, P3, P4, P8 and P18: leave it out.");
    }
    if (hasDatabase && !Measure.ofRequests().containsAll(measures(true))) {
      faults.add(
          "Only P1 to P5, P8 and P18 can be taken on a given Postgres: name those, or no"
              + " database.");
    }
    requireWritable(faults, "--json", json);
    requireWritable(faults, "--svg", svg);
    if (!faults.isEmpty()) {
      throw new Misused(String.join(" ", faults));
    }
  }

  private static void requireWithin(
      List<String> faults, String option, @Nullable Integer given, int min, int max) {
    if (given != null && (given < min || given > max)) {
      faults.add("%s must be %d to %d, not %d.".formatted(option, min, max, given));
    }
  }

  private static void requireWritable(List<String> faults, String option, @Nullable Path file) {
    if (file != null && !isWritable(file.toAbsolutePath())) {
      faults.add(option + " can't write " + file + ": name a file in a folder that is there.");
    }
  }

  private static boolean isWritable(Path file) {
    return Files.exists(file)
        ? Files.isRegularFile(file) && Files.isWritable(file)
        : file.getParent() != null && Files.isWritable(file.getParent());
  }
}
