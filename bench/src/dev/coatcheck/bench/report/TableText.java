package dev.coatcheck.bench.report;

import dev.coatcheck.bench.load.LoadResult;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** A report as a table of text: medians, and in the next column the least and the largest. */
public final class TableText {
  private static final List<String> HEAD =
      List.of(
          "",
          "measure",
          "unit",
          "median",
          "min-max",
          "baseline",
          "median",
          "min-max",
          "ratio",
          "min-max",
          "goal",
          "");

  private static final double MEGA = 1e6;

  private TableText() {}

  public static String of(Report report) {
    List<List<String>> cells = new ArrayList<>();
    cells.add(HEAD);
    report.rows().forEach(row -> cells.add(cells(row)));
    StringBuilder text = new StringBuilder();
    report.conditions().forEach((name, value) -> text.append(name + ": " + value + "\n"));
    text.append('\n').append(aligned(cells));
    report.notes().forEach(note -> text.append("\nNote: ").append(note));
    return report.notes().isEmpty() ? text.toString() : text.append('\n').toString();
  }

  private static List<String> cells(Row row) {
    return List.of(
        row.name(),
        row.what(),
        row.unit(),
        Figures.figure(row.measured().median()),
        Figures.spread(row.measured()),
        row.baseline().map(Row.Baseline::what).orElse("-"),
        row.baseline().map(base -> Figures.figure(base.samples().median())).orElse("-"),
        row.baseline().map(base -> Figures.spread(base.samples())).orElse("-"),
        row.ratio().map(Figures::ratio).orElse("-"),
        row.ratios()
            .map(all -> Figures.ratio(all.min()) + "-" + Figures.ratio(all.max()))
            .orElse("-"),
        row.goal().map(goal -> goal + (goal.ofRatio() ? "" : " " + row.unit())).orElse("-"),
        row.verdict().word());
  }

  /** The seconds of a load. Memory is that of the server at the end of the second. */
  public static String of(List<LoadResult.Second> timeline, List<Long> residentBytes) {
    List<List<String>> cells = new ArrayList<>();
    cells.add(
        List.of("second", "sent", "served", "refused", "broken", "p99 ms", "refusal ms", "MB"));
    for (int i = 0; i < timeline.size(); i++) {
      LoadResult.Second second = timeline.get(i);
      cells.add(
          List.of(
              Integer.toString(second.second()),
              Long.toString(second.sent()),
              Long.toString(second.served()),
              Long.toString(second.refused()),
              Long.toString(second.broken()),
              Figures.figure(second.p99Millis()),
              Figures.figure(second.refusedP99Millis()),
              i < residentBytes.size() ? Figures.figure(residentBytes.get(i) / MEGA) : "-"));
    }
    return aligned(cells);
  }

  /** Columns two spaces apart; numbers, and the heading above them, to the right. */
  static String aligned(List<List<String>> rows) {
    int columns = rows.getFirst().size();
    List<Integer> widths =
        IntStream.range(0, columns)
            .mapToObj(i -> rows.stream().mapToInt(row -> row.get(i).length()).max().orElse(0))
            .toList();
    StringBuilder text = new StringBuilder();
    for (int r = 0; r < rows.size(); r++) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        String cell = rows.get(r).get(i);
        String room = " ".repeat(widths.get(i) - cell.length());
        boolean isNumber =
            isNumber(cell) || (r == 0 && rows.size() > 1 && isNumber(rows.get(1).get(i)));
        line.append(isNumber ? room + cell : cell + room).append("  ");
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  private static boolean isNumber(String cell) {
    return !cell.isEmpty() && Character.isDigit(cell.charAt(0));
  }
}
