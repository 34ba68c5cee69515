package dev.coatcheck.api.console.types;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.ids.registry.Brownout;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A field of a type in a form, and its value as text.
 *
 * @param name the path of the field in the body of a request; older public IDs have names of their
 *     own
 * @param choices the values with the words that people see, the default first; empty for a text
 * @param hint an example, or what the values mean
 */
record TypeField(
    String name, String label, Kind kind, SequencedMap<String, String> choices, String hint) {
  private static final String YES = "yes";
  private static final String NO = "no";

  enum Kind {
    TEXT,
    NUMBER,
    CHOICE,
    /** A text for each line. */
    LINES,
    /** A brownout for each line. */
    WINDOWS,
    /** {@code language=text} for each line. */
    LANGUAGES
  }

  TypeField {
    choices = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(choices));
  }

  /**
   * Reads {@code name | label | kind | hint}; a choice has its values behind its kind, each with
   * its words, {@code value=words}, if they differ.
   */
  static TypeField parse(String line) {
    String[] cells = line.split(" *\\| *", 4);
    String[] kind = cells[2].split(" ", 2);
    return new TypeField(
        cells[0],
        cells[1],
        Kind.valueOf(kind[0].toUpperCase(Locale.ROOT)),
        kind.length == 1 ? new LinkedHashMap<>() : choices(kind[1]),
        cells[3]);
  }

  private static SequencedMap<String, String> choices(String list) {
    SequencedMap<String, String> choices = new LinkedHashMap<>();
    for (String choice : list.split(",", -1)) {
      String[] parts = choice.split("=", 2);
      choices.put(parts[0], parts[parts.length - 1]);
    }
    return choices;
  }

  /** A value of a form as people see it. */
  String shown(String value) {
    return choices.getOrDefault(value, value);
  }

  boolean isLines() {
    return switch (kind) {
      case LINES, WINDOWS, LANGUAGES -> true;
      case TEXT, NUMBER, CHOICE -> false;
    };
  }

  /**
   * What is left of a text when a form sends it: browsers drop the line breaks of a single line.
   */
  String sent(String text) {
    return (isLines() ? text : text.replaceAll("[\r\n]", "")).strip();
  }

  /** The value of a body as a form has it. */
  String text(@Nullable Object value) {
    return switch (value) {
      case null -> "";
      case Boolean isOn -> isOn ? YES : NO;
      case List<?> items -> items.stream().map(TypeField::line).collect(Collectors.joining("\n"));
      case Map<?, ?> texts ->
          texts.entrySet().stream()
              .map(text -> text.getKey() + "=" + text.getValue())
              .collect(Collectors.joining("\n"));
      default -> value.toString();
    };
  }

  private static String line(Object item) {
    if (!(item instanceof Map<?, ?> window)) {
      return item.toString();
    }
    String times = window.get("from") + "/" + window.get("to");
    return Integer.valueOf(503).equals(window.get("answer"))
        ? times
        : times + "," + window.get("answer");
  }

  /** The value of a form, which is not empty, as a body has it; what is wrong is refused there. */
  Object value(String text) {
    return switch (kind) {
      case TEXT -> text;
      case NUMBER -> Form.numberOr(text);
      case CHOICE ->
          choices.keySet().equals(Set.of(YES, NO)) ? text.equals(YES) : Form.numberOr(text);
      case LINES -> lines(text);
      case WINDOWS -> lines(text).stream().map(Brownout::fields).toList();
      case LANGUAGES -> languages(text);
    };
  }

  private static List<String> lines(String text) {
    return Arrays.stream(text.split("[\r\n]+"))
        .map(String::strip)
        .filter(line -> !line.isEmpty())
        .toList();
  }

  private static Map<String, String> languages(String text) {
    Map<String, String> byLanguage = new LinkedHashMap<>();
    for (String line : lines(text)) {
      String[] parts = line.split("=", 2);
      byLanguage.put(parts[0].strip(), parts.length == 1 ? "" : parts[1].strip());
    }
    return byLanguage;
  }
}
