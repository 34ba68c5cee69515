package dev.coatcheck.migrate.plan;

import dev.coatcheck.FuzzTexts;
import dev.coatcheck.migrate.source.SearchPath;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Statements of applications as a source recorded them, and search paths. */
public final class SqlFuzz {
  private SqlFuzz() {}

  /** By the name that Jazzer calls. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    List<SqlToken> tokens = SqlToken.of(text);
    SqlStatement _ = StatementReader.read(text, tokens);
    SearchPath.parse(text)
        .ifPresent(
            path -> {
              if (path.schemas().isEmpty()) {
                throw new AssertionError("a search path without a schema");
              }
            });
  }

  /** Writes texts to begin with into the folder of the argument. */
  public static void main(String[] arguments) throws IOException {
    FuzzTexts.write(
        arguments[0],
        "insert into x (a, b) select t.*, $1 from only \"T\" as t where t.id = any ($2) for update",
        "with w as (select 1) update x set (a, b) = (1, default) from w returning x.*",
        "select e'\\'', $q$ text $q$, /* /* nested */ */ 'a' -- end\n union all select 1e5",
        "begin loop insert into a values (1) on conflict (id) do update set b = excluded.b; end"
            + " loop;",
        "\"$user\", public",
        "pg_catalog,\"a\"\"b\"");
  }
}
