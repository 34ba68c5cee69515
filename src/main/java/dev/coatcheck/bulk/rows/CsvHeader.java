package dev.coatcheck.bulk.rows;

import dev.coatcheck.core.name.WireNamed;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The first line of a CSV file: its columns and their order. */
final class CsvHeader {
  private static final int COLUMNS_NAMED_MAX = 10;

  private CsvHeader() {}

  static RowFile.Opened open(Lines line, Set<Column> needed) {
    Optional<List<String>> names =
        line.isTooLong()
            ? Optional.empty()
            : CsvLineReader.split(line.bytes(), line.from(), line.to());
    if (names.isEmpty()) {
      return refused("The first line of a CSV file names its columns; its quotes are unbalanced.");
    }
    if (names.get().stream().anyMatch(name -> name.indexOf('\r') >= 0)) {
      return refused("The lines of a CSV file end with LF or CRLF; those of this one with CR.");
    }
    List<String> unknown =
        IntStream.range(0, names.get().size())
            .filter(at -> WireNamed.find(Column.class, names.get().get(at)).isEmpty())
            .mapToObj(at -> Integer.toString(at + 1))
            .toList();
    if (!unknown.isEmpty()) {
      return refused(
          "The first line names the columns, of type, key, legacy_id, created_at, public_id,"
              + " client_id, client_namespace and client_principal. Unknown: column"
              + (unknown.size() == 1 ? " " : "s ")
              + String.join(", ", unknown.stream().limit(COLUMNS_NAMED_MAX).toList())
              + ".");
    }
    List<Column> columns = new ArrayList<>();
    names.get().forEach(name -> columns.add(WireNamed.find(Column.class, name).orElseThrow()));
    if (Set.copyOf(columns).size() < columns.size()) {
      return refused("The first line names a column twice.");
    }
    for (Column column : needed) {
      if (!columns.contains(column)) {
        return refused("The first line names no column " + column.wireName() + ".");
      }
    }
    if (Stream.of(Column.KEY, Column.LEGACY_ID, Column.CLIENT_ID).noneMatch(columns::contains)) {
      return refused("The first line names neither key nor legacy_id nor client_id.");
    }
    return new RowFile.Opened.Sound(new RowFile(line, new CsvLineReader(columns), false));
  }

  private static RowFile.Opened refused(String detail) {
    return new RowFile.Opened.Refused(detail);
  }
}
