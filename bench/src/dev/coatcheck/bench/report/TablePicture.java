package dev.coatcheck.bench.report;

import java.util.Locale;

/**
 * A report as a picture, in SVG: a bar for each row with a goal, as long as the goal is reached,
 * and a line where it is. Where less is better the bar is the goal over the figure, so that a bar
 * that crosses the line is a goal that is met.
 */
public final class TablePicture {
  private static final int WIDTH = 960;
  private static final int ROW_HEIGHT = 22;
  private static final int TOP = 56;
  private static final int BOTTOM = 34;
  private static final int BAR_LEFT = 430;
  private static final int GOAL_WIDTH = 150;
  private static final double REACHED_MAX = 1.9;
  private static final int FIGURE_LEFT = 730;

  /** Colours for both of a reader's backgrounds; no meaning is in a colour alone. */
  private static final String STYLE =
      """
      <style>
        text { font: 13px sans-serif; fill: #1f2328 }
        .dim { fill: #59636e }
        .met { fill: #2563a8 }
        .missed { fill: #c2590c }
        .goal { stroke: #1f2328 }
        @media (prefers-color-scheme: dark) {
          text { fill: #e6edf3 }
          .dim { fill: #9198a1 }
          .met { fill: #5b9bd5 }
          .missed { fill: #e08a4a }
          .goal { stroke: #e6edf3 }
        }
      </style>
      """;

  private TablePicture() {}

  public static String of(Report report) {
    int height = TOP + report.rows().size() * ROW_HEIGHT + BOTTOM;
    StringBuilder svg = new StringBuilder();
    svg.append(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
            .formatted(WIDTH, height));
    svg.append("<title>The measures of coatcheck bench table against their goals</title>\n");
    svg.append(STYLE);
    text(svg, 10, 24, "", "Measures against their goals, " + report.at());
    text(svg, BAR_LEFT + GOAL_WIDTH - 14, TOP - 8, "dim", "goal");
    text(svg, FIGURE_LEFT, TOP - 8, "dim", "measured, and the goal");
    int y = TOP;
    for (Row row : report.rows()) {
      row(svg, row, y);
      y += ROW_HEIGHT;
    }
    int goal = BAR_LEFT + GOAL_WIDTH;
    svg.append(
        "<line class=\"goal\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n"
            .formatted(goal, TOP, goal, y));
    text(
        svg,
        10,
        y + 22,
        "dim",
        "Further to the right is better. Conditions: " + conditions(report));
    return svg.append("</svg>\n").toString();
  }

  private static void row(StringBuilder svg, Row row, int y) {
    int base = y + ROW_HEIGHT - 6;
    text(svg, 10, base, "", row.name());
    text(svg, 120, base, "dim", row.what());
    if (row.goal().isEmpty()) {
      text(svg, FIGURE_LEFT, base, "dim", figure(row, row.ratio().isPresent()));
      return;
    }
    Goal goal = row.goal().get();
    double width = Math.min(goal.reachedBy(row.judged()), REACHED_MAX) * GOAL_WIDTH;
    String word = row.verdict().word();
    svg.append(
        String.format(
            Locale.ROOT,
            "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
            word,
            BAR_LEFT,
            y + 5,
            width,
            ROW_HEIGHT - 8));
    text(svg, FIGURE_LEFT, base, "", figure(row, goal.ofRatio()) + ", " + goal + ": " + word);
  }

  private static String figure(Row row, boolean asRatio) {
    return asRatio
        ? Figures.ratio(row.ratio().orElseThrow())
        : Figures.figure(row.measured().median()) + " " + row.unit();
  }

  private static String conditions(Report report) {
    return report.conditions().entrySet().stream()
        .filter(one -> !one.getKey().equals("machine"))
        .map(one -> one.getKey() + " " + one.getValue())
        .reduce((left, right) -> left + "; " + right)
        .orElse("none");
  }

  private static void text(StringBuilder svg, int x, int y, String style, String text) {
    svg.append("<text x=\"%d\" y=\"%d\"".formatted(x, y));
    svg.append(style.isEmpty() ? ">" : " class=\"" + style + "\">");
    svg.append(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"));
    svg.append("</text>\n");
  }
}
