package dev.coatcheck.app.client;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Prints the results of a verb: as a table with headers at a terminal, as CSV without headers where
 * the output goes elsewhere, and with {@code --json} as a JSON object a line. A mixin with that
 * option.
 */
@Command
public final class Output {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String GAP = "  ";

  @Spec(Spec.Target.MIXEE)
  private CommandSpec command;

  @Option(names = "--json", description = "Print JSON, an object a line.")
  private boolean json;

  /** Of the columns printed so far: a stream of rows comes in several calls. */
  private int[] widths = {};

  public boolean isJson() {
    return json;
  }

  /** An object of fields that no answer of the gateway has. */
  public static JsonNode object(Map<String, ? extends @Nullable Object> fields) {
    return JSON.valueToTree(fields);
  }

  /** Prints the object, an answer or a map of fields, or the line that says the same to people. */
  public void print(Object object, String text) throws CommandFailed {
    print(object, out -> out.println(text));
  }

  /** Prints the object, or what says the same to people. */
  public void print(Object object, Consumer<PrintWriter> text) throws CommandFailed {
    if (json) {
      out().println(JSON.<JsonNode>valueToTree(object));
    } else {
      text.accept(out());
    }
    requireReader();
  }

  /** Prints a line for people on standard error, with and without {@code --json}. */
  public void note(String line) {
    command.commandLine().getErr().println(line);
  }

  /**
   * Prints a row for each object.
   *
   * @param columns a field each, or {@code header=/pointer} for a field within a field
   */
  public void rows(Iterable<JsonNode> objects, String... columns) throws CommandFailed {
    if (json) {
      objects.forEach(out()::println);
    } else {
      List<List<String>> rows = new ArrayList<>();
      for (JsonNode object : objects) {
        rows.add(Arrays.stream(columns).map(column -> text(object.at(pointer(column)))).toList());
      }
      if (ProgressBars.isDrawn()) {
        out().print(table(Arrays.stream(columns).map(Output::header).toList(), rows));
      } else {
        rows.forEach(row -> out().println(csv(row)));
      }
    }
    requireReader();
  }

  /** Prints a line for each field of an object that has a value. */
  public void fields(JsonNode object) throws CommandFailed {
    if (json) {
      out().println(object);
    } else {
      List<List<String>> lines = new ArrayList<>();
      flat(object).forEach((name, values) -> lines.add(List.of(name, String.join(" ", values))));
      if (ProgressBars.isDrawn()) {
        widths = new int[2];
        widen(lines);
        lines.forEach(line -> out().println(aligned(line)));
      } else {
        lines.forEach(line -> out().println(csv(line)));
      }
    }
    requireReader();
  }

  /** The values of all fields, also of those within fields, by their dotted names. */
  public static SequencedMap<String, List<String>> flat(JsonNode object) {
    SequencedMap<String, List<String>> fields = new LinkedHashMap<>();
    flatten("", object, fields);
    return fields;
  }

  private static void flatten(
      String name, JsonNode value, SequencedMap<String, List<String>> fields) {
    if (value.isObject()) {
      value.forEachEntry(
          (field, inner) -> flatten(name.isEmpty() ? field : name + "." + field, inner, fields));
    } else if (!value.isNull() && !(value.isArray() && value.isEmpty())) {
      fields.put(
          name,
          value.isArray() ? value.valueStream().map(Output::text).toList() : List.of(text(value)));
    }
  }

  /** The table of some rows, with its headers if they are the first. */
  String table(List<String> headers, List<List<String>> rows) {
    List<List<String>> lines = new ArrayList<>(rows);
    if (widths.length == 0) {
      widths = new int[headers.size()];
      lines.addFirst(headers);
    }
    widen(lines);
    return lines.stream().map(line -> aligned(line) + "\n").collect(Collectors.joining());
  }

  private void widen(List<List<String>> lines) {
    for (List<String> line : lines) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], line.get(i).length());
      }
    }
  }

  private String aligned(List<String> cells) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < cells.size(); i++) {
      // A reason that a stranger wrote must not move the cursor.
      String cell = cells.get(i).replaceAll("\\p{Cntrl}", " ");
      line.append(cell).append(" ".repeat(widths[i] - cell.length())).append(GAP);
    }
    return line.toString().stripTrailing();
  }

  /** A row as RFC 4180 has it. */
  static String csv(List<String> cells) {
    return cells.stream()
        .map(
            cell ->
                cell.matches("[^\",\\p{Cntrl}]*") ? cell : '"' + cell.replace("\"", "\"\"") + '"')
        .collect(Collectors.joining(","));
  }

  private static String header(String column) {
    return column.replaceFirst("=.*", "");
  }

  private static String pointer(String column) {
    int equals = column.indexOf('=');
    return equals < 0 ? "/" + column : column.substring(equals + 1);
  }

  private static String text(JsonNode value) {
    if (value.isArray()) {
      return StreamSupport.stream(value.spliterator(), false)
          .map(Output::text)
          .collect(Collectors.joining(" "));
    }
    return value.isMissingNode() || value.isNull()
        ? ""
        : value.isString() ? value.asString() : value.toString();
  }

  private PrintWriter out() {
    return command.commandLine().getOut();
  }

  private void requireReader() throws ReaderGone {
    requireReader(out());
  }

  /** Ends a command that nothing can be printed to any more. */
  public static void requireReader(PrintWriter out) throws ReaderGone {
    if (out.checkError()) {
      throw new ReaderGone();
    }
  }
}
