package dev.coatcheck.bench.micro;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.bench.machine.MeasureFailed;
import dev.coatcheck.bench.report.Goal;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.bench.report.Samples;
import dev.coatcheck.bench.speed.Measure;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** P9 to P11: tokens, public IDs and keys inside of a process, each beside its baseline. */
public final class MicroSpeed {
  private static final String IDS = "dev.coatcheck.core.id.PublicIdBenchmark.";
  private static final String KEYS = "dev.coatcheck.cluster.lease.SnowflakeBenchmark.";

  /** The default layout holds 4,096 keys a millisecond. */
  private static final double CAP_NANOS = 1e6 / 4_096;

  private static final int MANY_THREADS = 4;
  private static final List<String> PEERS = List.of("tsidCreator", "uuidCreator", "cosId");

  private final Map<String, Samples> nanos;

  private MicroSpeed(Map<String, Samples> nanos) {
    this.nanos = nanos;
  }

  /** Whether the benchmarks were built: JMH's annotations are processed by Maven only. */
  public static boolean isBuilt() {
    return MicroSpeed.class.getResource("/META-INF/BenchmarkList") != null;
  }

  /**
   * Runs the benchmarks of these measures.
   *
   * @param seconds of warm-up and of each of three rounds, in one JVM each; the spread is theirs
   */
  public static List<Row> measure(Set<Measure> measures, double seconds) {
    TimeValue time = TimeValue.milliseconds(Math.round(seconds * 1e3));
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .forks(1)
            .warmupIterations(2)
            .warmupTime(time)
            .measurementIterations(3)
            .measurementTime(time)
            .verbosity(VerboseMode.SILENT)
            .shouldFailOnError(true);
    patterns(measures).forEach(options::include);
    try {
      return new MicroSpeed(nanos(new Runner(options.build()).run())).rows(measures);
    } catch (RunnerException failed) {
      throw new MeasureFailed("a micro-benchmark failed: " + failed.getMessage());
    }
  }

  private static List<String> patterns(Set<Measure> measures) {
    List<String> patterns = new ArrayList<>();
    if (measures.contains(Measure.P9)) {
      patterns.add(IDS + "token");
    }
    if (measures.contains(Measure.P10)) {
      patterns.addAll(List.of(IDS + "format", IDS + "parse"));
    }
    if (measures.contains(Measure.P11)) {
      patterns.addAll(List.of(KEYS + "capped(One|Four)", KEYS + "uncappedBare"));
      PEERS.forEach(peer -> patterns.add(KEYS + peer));
    }
    return patterns;
  }

  private static Map<String, Samples> nanos(Collection<RunResult> results) {
    Map<String, Samples> nanos = new TreeMap<>();
    for (RunResult result : results) {
      List<Double> rounds =
          result.getBenchmarkResults().stream()
              .flatMap(fork -> fork.getIterationResults().stream())
              .map(round -> round.getPrimaryResult().getScore())
              .toList();
      String name = result.getParams().getBenchmark();
      nanos.put(name.substring(name.lastIndexOf('.') + 1), new Samples(rounds));
    }
    return nanos;
  }

  private List<Row> rows(Set<Measure> measures) {
    List<Row> rows = new ArrayList<>();
    if (measures.contains(Measure.P9)) {
      rows.add(
          row(
              Measure.P9,
              "",
              "",
              "token",
              "UUID.randomUUID",
              "tokenBaseline",
              Goal.ratioAtMost(0.1)));
    }
    if (measures.contains(Measure.P10)) {
      rows.add(
          row(
              Measure.P10,
              "",
              ", written",
              "format",
              "UUID.toString",
              "formatBaseline",
              Goal.atMost(50)));
      rows.add(
          row(
              Measure.P10,
              " parse",
              ", read and checked",
              "parse",
              "UUID.fromString",
              "parseBaseline",
              Goal.atMost(30)));
    }
    if (measures.contains(Measure.P11)) {
      rows.add(capped("", "1 thread", nanosOf("cappedOneThread")));
      rows.add(capped(" at 4", "4 threads", each(nanosOf("cappedFourThreads"), MANY_THREADS)));
      rows.add(uncapped(" uncapped", "1 thread", "OneThread"));
      rows.add(uncapped(" uncapped at 4", "4 threads", "FourThreads"));
    }
    return rows;
  }

  private Row row(
      Measure measure,
      String suffix,
      String note,
      String name,
      String against,
      String baseline,
      Goal goal) {
    return row(
        measure + suffix,
        measure.what() + note,
        nanosOf(name),
        new Row.Baseline(against, nanosOf(baseline)),
        goal);
  }

  private Samples nanosOf(String benchmark) {
    return requireNonNull(nanos.get(benchmark), benchmark);
  }

  /** JMH shows the time of one thread, and the threads share the keys. */
  private static Samples each(Samples ofThreads, int threads) {
    return new Samples(ofThreads.values().stream().map(nanos -> nanos / threads).toList());
  }

  private static Row capped(String suffix, String threads, Samples samples) {
    Samples cap = new Samples(samples.values().stream().map(_ -> CAP_NANOS).toList());
    return row(
        Measure.P11 + suffix,
        Measure.P11.what() + ", default layout, " + threads,
        samples,
        new Row.Baseline("4,096 a millisecond", cap),
        Goal.ratioAtMost(1.02));
  }

  /** Against the fastest of its peers. */
  private Row uncapped(String suffix, String threads, String benchmark) {
    String best =
        PEERS.stream()
            .min(Comparator.comparingDouble(peer -> nanosOf(peer + benchmark).median()))
            .orElseThrow();
    return row(
        Measure.P11 + suffix,
        Measure.P11.what() + ", wide sequence, " + threads,
        nanosOf("uncappedBare" + benchmark),
        new Row.Baseline(best, nanosOf(best + benchmark)),
        Goal.ratioAtMost(1));
  }

  private static Row row(
      String name, String what, Samples samples, Row.Baseline baseline, Goal goal) {
    return new Row(name, what, "ns", true, samples, Optional.of(baseline), Optional.of(goal));
  }
}
