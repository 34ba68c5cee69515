package dev.coatcheck.api.console.types;

import dev.coatcheck.api.console.page.Display;
import dev.coatcheck.ids.redirect.LegacyHits.DayCount;
import dev.coatcheck.ids.registry.Brownout;
import dev.coatcheck.ids.registry.LegacyPolicy;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * How often legacy IDs of a type were found, a bar for each day, with the sunset and the brownouts
 * in their places. A sunset within a month after today is still drawn.
 *
 * @param first the first day
 * @param end the day after the last one that is drawn
 */
record HitChart(
    LocalDate first,
    LocalDate today,
    LocalDate end,
    Map<LocalDate, Long> counts,
    LegacyPolicy policy) {
  static final int DAYS = 60;
  private static final int AHEAD_MAX = 31;
  private static final int WIDTH = 560;
  private static final int HEIGHT = 120;
  private static final int TOP = 18;

  static HitChart of(LocalDate today, List<DayCount> hits, LegacyPolicy policy) {
    LocalDate last =
        policy
            .sunsetAt()
            .map(HitChart::day)
            .filter(day -> day.isAfter(today) && !day.isAfter(today.plusDays(AHEAD_MAX)))
            .map(day -> day.plusDays(1))
            .orElse(today);
    return new HitChart(
        today.minusDays(DAYS - 1),
        today,
        last.plusDays(1),
        hits.stream().collect(Collectors.toMap(DayCount::day, DayCount::count)),
        policy);
  }

  /** A bar, or a window that is drawn. */
  record Bar(String x, String y, String width, String height) {}

  private static LocalDate day(Instant time) {
    return LocalDate.ofInstant(time, ZoneOffset.UTC);
  }

  int width() {
    return WIDTH;
  }

  int height() {
    return baseY() + 20;
  }

  int baseY() {
    return TOP + HEIGHT;
  }

  int textY() {
    return height() - 4;
  }

  long most() {
    return counts.values().stream().mapToLong(count -> count).max().orElse(0);
  }

  long sum() {
    return counts.values().stream().mapToLong(count -> count).sum();
  }

  /** Whether there is nothing to draw. */
  boolean isEmpty() {
    return sum() == 0 && windows().isEmpty() && sunsetX().isEmpty();
  }

  private double dayWidth() {
    return (double) WIDTH / (end.toEpochDay() - first.toEpochDay());
  }

  private double x(Instant time) {
    Instant start = first.atStartOfDay(ZoneOffset.UTC).toInstant();
    double days = Duration.between(start, time).toSeconds() / 86_400.0;
    return Math.clamp(days * dayWidth(), 0, WIDTH);
  }

  List<Bar> bars() {
    return counts.entrySet().stream()
        .filter(day -> day.getValue() > 0 && !day.getKey().isBefore(first))
        .sorted(Map.Entry.comparingByKey())
        .map(
            day -> {
              double height = Math.max(1, (double) day.getValue() / most() * HEIGHT);
              double left = (day.getKey().toEpochDay() - first.toEpochDay()) * dayWidth();
              return bar(left + 0.5, baseY() - height, Math.max(1, dayWidth() - 1), height);
            })
        .toList();
  }

  /** The brownouts of the days that are drawn, no narrower than one can see. */
  List<Bar> windows() {
    return policy.brownouts().stream()
        .filter(window -> isDrawn(window.from()) || isDrawn(window.to()))
        .map(
            (Brownout window) ->
                bar(x(window.from()), TOP, Math.max(3, x(window.to()) - x(window.from())), HEIGHT))
        .toList();
  }

  private boolean isDrawn(Instant time) {
    LocalDate day = day(time);
    return !day.isBefore(first) && day.isBefore(end);
  }

  /** Where the sunset is drawn. */
  Optional<String> sunsetX() {
    return policy.sunsetAt().filter(this::isDrawn).map(at -> number(x(at)));
  }

  String todayX() {
    return number((today.toEpochDay() - first.toEpochDay() + 0.5) * dayWidth());
  }

  boolean isAhead() {
    return end.isAfter(today.plusDays(1));
  }

  String topText() {
    return Display.number(most()) + " a day";
  }

  /** The picture in words. */
  String description() {
    return "Legacy IDs found from "
        + first
        + " to "
        + today
        + ": "
        + (sum() == 0 ? "none" : counted())
        + policy.sunsetAt().map(at -> "; the sunset is on " + day(at)).orElse("");
  }

  private String counted() {
    return "%s in all, %s on the busiest day, %s today"
        .formatted(
            Display.number(sum()),
            Display.number(most()),
            Display.number(counts.getOrDefault(today, 0L)));
  }

  private static Bar bar(double x, double y, double width, double height) {
    return new Bar(number(x), number(y), number(width), number(height));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }
}
