package dev.coatcheck.migrate.schemas;

import dev.coatcheck.migrate.run.MigrationFixture;
import java.util.List;

/**
 * A column with a foreign key to the table that migrates; beside it lies the label of the row that
 * it refers to. All names are quoted.
 *
 * @param twin the column that takes its place
 * @param isSelf whether the table refers to itself
 * @param mayLose whether a row that is referred to may be deleted
 * @param isUnique whether only one row may refer to a row
 */
record Reference(
    String table,
    String column,
    String label,
    String twin,
    boolean isSelf,
    boolean mayLose,
    boolean isUnique) {
  private static final String SEPARATOR = "\t";

  /** Those of a table, in the order of their names. */
  static List<Reference> to(MigrationFixture source, String table) {
    return source
        .texts(
            """
            select concat_ws(E'\\t', f.conrelid::regclass, quote_ident(a.attname),
                             quote_ident(a.attname || '_label'),
                             quote_ident(a.attname || '_snowflake_id'),
                             f.conrelid = f.confrelid, f.confdeltype in ('c', 'n', 'd'),
                             exists (select from pg_index i
                                      where i.indrelid = f.conrelid and i.indisunique
                                        and a.attnum = any (i.indkey)))
              from pg_constraint f
              join pg_attribute a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
             where f.contype = 'f' and f.confrelid = '<table>'::regclass
             order by 1
            """
                .replace("<table>", table.replace("'", "''")))
        .stream()
        .map(row -> row.split(SEPARATOR))
        .map(
            cells ->
                new Reference(
                    cells[0],
                    cells[1],
                    cells[2],
                    cells[3],
                    cells[4].equals("t"),
                    cells[5].equals("t"),
                    cells[6].equals("t")))
        .toList();
  }
}
