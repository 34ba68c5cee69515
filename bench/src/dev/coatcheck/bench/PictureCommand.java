package dev.coatcheck.bench;

import dev.coatcheck.app.client.Misused;
import dev.coatcheck.bench.report.Report;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.bench.report.TablePicture;
import dev.coatcheck.bench.speed.Measure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code coatcheck bench picture}: draws runs that were kept. */
@Command(
    name = "picture",
    description =
        "Draws the ratios of runs against their goals. Where several have a row, the last one's is"
            + " taken.",
    mixinStandardHelpOptions = true)
final class PictureCommand implements Callable<Integer> {
  @Parameters(paramLabel = "RUN", arity = "1..*", description = "Files of bench table --json.")
  private List<Path> runs = List.of();

  @Option(names = "--svg", paramLabel = "FILE", required = true, description = "The picture.")
  private Path svg;

  @Override
  public Integer call() throws Misused, IOException {
    List<Report> reports = new ArrayList<>();
    for (Path run : runs) {
      try {
        reports.add(Report.read(run));
      } catch (IOException unreadable) {
        throw new Misused(run + " is no file that bench table --json has written.");
      }
    }
    Files.writeString(svg, TablePicture.of(joined(reports)));
    return 0;
  }

  private static Report joined(List<Report> reports) {
    Map<String, Row> rows = new LinkedHashMap<>();
    reports.forEach(report -> report.rows().forEach(row -> rows.put(row.name(), row)));
    Report first = reports.getFirst();
    return new Report(
        first.at(),
        first.conditions(),
        first.notes(),
        rows.values().stream().sorted(Comparator.comparing(Measure::of)).toList());
  }
}
