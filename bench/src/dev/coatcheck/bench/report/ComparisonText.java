package dev.coatcheck.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Two runs side by side: the ratios, and where there is no baseline the figures. */
public final class ComparisonText {
  private static final List<String> HEAD =
      List.of("", "measure", "compared", "before", "min-max", "now", "min-max", "change", "");

  private ComparisonText() {}

  /** What changed from the earlier run to this one; only rows that both have. */
  public static String of(Report before, Report now) {
    Map<String, Row> earlier =
        before.rows().stream().collect(Collectors.toMap(Row::name, Function.identity()));
    List<List<String>> cells = new ArrayList<>();
    cells.add(HEAD);
    for (Row row : now.rows()) {
      Row old = earlier.get(row.name());
      if (old != null && old.baseline().isPresent() == row.baseline().isPresent()) {
        cells.add(cells(old, row));
      }
    }
    StringBuilder text = new StringBuilder("Compared with the run of " + before.at() + "\n");
    now.conditions()
        .forEach(
            (name, value) -> {
              String other = before.conditions().getOrDefault(name, "-");
              if (!other.equals(value)) {
                text.append("Differs: " + name + " was " + other + ", is " + value + "\n");
              }
            });
    return text.append('\n').append(TableText.aligned(cells)).toString();
  }

  private static List<String> cells(Row old, Row row) {
    double change = row.comparedMedian() / old.comparedMedian() - 1;
    return List.of(
        row.name(),
        row.what(),
        row.ratio().isPresent() ? "ratio" : row.unit(),
        Figures.figure(old.comparedMedian()),
        Figures.spread(old.compared()),
        Figures.figure(row.comparedMedian()),
        Figures.spread(row.compared()),
        String.format(Locale.ROOT, "%+.0f %%", change * 100),
        word(old, row, change));
  }

  private static String word(Row old, Row row, double change) {
    if (!row.compared().isApartFrom(old.compared())) {
      return "within the spread";
    }
    return change < 0 == row.isCost() ? "better" : "worse";
  }
}
