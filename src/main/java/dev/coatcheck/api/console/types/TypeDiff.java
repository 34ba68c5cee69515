package dev.coatcheck.api.console.types;

import java.util.List;
import java.util.Map;

/** What a change does to a type, field by field. */
record TypeDiff(List<Row> rows) {
  TypeDiff {
    rows = List.copyOf(rows);
  }

  /** A field before and after the change; an empty text where it has no value. */
  record Row(String label, String before, String after) {
    boolean isChanged() {
      return !before.equals(after);
    }

    List<Line> linesBefore() {
      return lines(before, after);
    }

    List<Line> linesAfter() {
      return lines(after, before);
    }

    private static List<Line> lines(String text, String other) {
      List<String> others = other.lines().toList();
      return text.lines().map(line -> new Line(line, !others.contains(line))).toList();
    }
  }

  /**
   * @param isChanged whether the other value lacks it
   */
  record Line(String text, boolean isChanged) {}

  /**
   * @param before as {@link TypeFields#texts} writes it; empty for a new type
   */
  static TypeDiff between(Map<String, String> before, Map<String, String> after) {
    return new TypeDiff(
        TypeFields.ALL.stream()
            .map(
                field ->
                    new Row(
                        field.label(),
                        field.shown(before.getOrDefault(field.name(), "")),
                        field.shown(after.getOrDefault(field.name(), ""))))
            .toList());
  }

  List<Row> changed() {
    return rows.stream().filter(Row::isChanged).toList();
  }

  List<Row> unchanged() {
    return rows.stream().filter(row -> !row.isChanged() && !row.after().isEmpty()).toList();
  }
}
