package dev.coatcheck.bench.growth;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * The steps as a picture, in SVG: three panels side by side, each with a line for each storage over
 * the number of mappings, which is drawn by its logarithm. Latencies are drawn by theirs, too.
 */
public final class GrowthPicture {
  private static final int PANEL_WIDTH = 300;
  private static final int PANEL_HEIGHT = 190;
  private static final int TOP = 60;
  private static final int LEFT = 46;
  private static final int GAP = 20;
  private static final int BOTTOM = 62;

  /** Lines differ by their dashes too, so no meaning is in a colour alone. */
  private static final String STYLE =
      """
      <style>
        text { font: 12px sans-serif; fill: #1f2328 }
        .dim { fill: #59636e }
        .axis { stroke: #8c959f }
        polyline { fill: none; stroke-width: 2 }
        .stored { stroke: #2563a8 }
        .partitioned { stroke: #c2590c; stroke-dasharray: 6 3 }
        .sealed { stroke: #2f7d4f; stroke-dasharray: 2 3 }
        @media (prefers-color-scheme: dark) {
          text { fill: #e6edf3 }
          .dim { fill: #9198a1 }
          .stored { stroke: #5b9bd5 }
          .partitioned { stroke: #e08a4a }
          .sealed { stroke: #6cc08b }
        }
      </style>
      """;

  private GrowthPicture() {}

  public static String of(List<GrowthStep> steps) {
    int width = 3 * (PANEL_WIDTH + GAP) + GAP;
    int height = TOP + PANEL_HEIGHT + BOTTOM;
    StringBuilder svg = new StringBuilder();
    svg.append(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
            .formatted(width, height));
    svg.append("<title>Bytes of a mapping and latencies over the number of mappings</title>\n");
    svg.append(STYLE);
    text(svg, GAP, 22, "", "Growth: one caller, in process, nothing cached by the gateway");
    panel(svg, 0, "bytes a mapping", steps, GrowthPicture::bytes, false);
    panel(svg, 1, "mint p50, µs", steps, step -> step.mint().p50(), true);
    panel(svg, 2, "resolve p50, µs", steps, step -> step.resolve().p50(), true);
    int x = GAP;
    for (Storage storage : Storage.values()) {
      int y = height - 14;
      svg.append(
          "<polyline class=\"%s\" points=\"%d,%d %d,%d\"/>\n"
              .formatted(css(storage), x, y - 4, x + 30, y - 4));
      text(svg, x + 38, y, "", storage.words());
      x += 200;
    }
    return svg.append("</svg>\n").toString();
  }

  private static double bytes(GrowthStep step) {
    return step.storage() == Storage.SEALED ? 0 : step.bytesPerMapping();
  }

  private static void panel(
      StringBuilder svg,
      int index,
      String title,
      List<GrowthStep> steps,
      ToDoubleFunction<GrowthStep> value,
      boolean isLogarithmic) {
    double left = GAP + index * (PANEL_WIDTH + GAP) + LEFT;
    double right = GAP + index * (PANEL_WIDTH + GAP) + PANEL_WIDTH;
    double base = TOP + PANEL_HEIGHT;
    double most = steps.stream().mapToDouble(value).max().orElse(1) * 1.2;
    double least = isLogarithmic ? steps.stream().mapToDouble(value).min().orElse(1) / 1.5 : 0;
    double first = Math.log10(steps.stream().mapToDouble(GrowthStep::rows).min().orElse(1));
    double last = Math.log10(steps.stream().mapToDouble(GrowthStep::rows).max().orElse(10));
    text(svg, (int) left, TOP - 10, "", title);
    line(svg, left, TOP, left, base);
    line(svg, left, base, right, base);
    for (Storage storage : Storage.values()) {
      List<GrowthStep> own = steps.stream().filter(step -> step.storage() == storage).toList();
      if (own.isEmpty()) {
        continue;
      }
      svg.append("<polyline class=\"").append(css(storage)).append("\" points=\"");
      for (GrowthStep step : own) {
        double x =
            left
                + (right - left - 30)
                    * (last > first
                        ? (Math.log10((double) step.rows()) - first) / (last - first)
                        : 0)
                + 12;
        svg.append(
            String.format(
                Locale.ROOT,
                "%.1f,%.1f ",
                x,
                base
                    - PANEL_HEIGHT * share(value.applyAsDouble(step), least, most, isLogarithmic)));
      }
      svg.append("\"/>\n");
      double at = value.applyAsDouble(own.getLast());
      text(
          svg,
          (int) left - LEFT,
          (int) (base - PANEL_HEIGHT * share(at, least, most, isLogarithmic)) + 4,
          "dim",
          String.format(Locale.ROOT, at < 10 ? "%.1f" : "%.0f", at));
    }
    text(svg, (int) left, (int) base + 18, "dim", "10^" + Math.round(first));
    text(svg, (int) right - 44, (int) base + 18, "dim", "10^" + Math.round(last));
  }

  private static double share(double value, double least, double most, boolean isLogarithmic) {
    return isLogarithmic
        ? (Math.log(value) - Math.log(least)) / (Math.log(most) - Math.log(least))
        : (value - least) / (most - least);
  }

  private static String css(Storage storage) {
    return storage.name().toLowerCase(Locale.ROOT);
  }

  private static void line(StringBuilder svg, double x1, double y1, double x2, double y2) {
    svg.append(
        String.format(
            Locale.ROOT,
            "<line class=\"axis\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>\n",
            x1,
            y1,
            x2,
            y2));
  }

  private static void text(StringBuilder svg, int x, int y, String style, String text) {
    svg.append("<text x=\"%d\" y=\"%d\"".formatted(x, y));
    svg.append(style.isEmpty() ? ">" : " class=\"" + style + "\">");
    svg.append(text).append("</text>\n");
  }
}
