package dev.coatcheck.postgres.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The gateway's own schema, printed from the catalog, so that a review sees each change. */
class SchemaTest {
  private static final TestDatabase DATABASE = TestDatabase.fresh();
  private static final Path PRINTED = Path.of("docs", "schema.txt");

  private static final String LINES =
      """
      with relation as (
        select oid, relname::text as name
          from pg_class
         where relnamespace = 'coatcheck'::regnamespace and relkind = 'r'
           and relname <> 'flyway_schema_history'),
      line (kind, relation, part, position, name, text, comment) as (
        select 1, name, 1, 0, '', E'\\ntable ' || name, obj_description(oid, 'pg_class')
          from relation
        union all
        select 1, r.name, 2, a.attnum, '',
               '  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
                 || case when a.attnotnull then ' not null' else '' end
                 || case a.attidentity when 'a' then ' generated always as identity' else '' end
                 || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), ''),
               col_description(r.oid, a.attnum)
          from relation r
          join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
          left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
        union all
        select 1, r.name, 3, 0, c.conname::text,
               '  constraint ' || c.conname || ' ' || pg_get_constraintdef(c.oid),
               obj_description(c.oid, 'pg_constraint')
          from relation r
          join pg_constraint c on c.conrelid = r.oid and c.contype in ('p', 'u', 'f', 'c')
        union all
        select 1, r.name, 4, 0, i.indexrelid::regclass::text, '  ' || pg_get_indexdef(i.indexrelid),
               obj_description(i.indexrelid, 'pg_class')
          from relation r
          join pg_index i on i.indrelid = r.oid
         where not exists (
           select from pg_constraint where conindid = i.indexrelid and conrelid = r.oid)
        union all
        select 2, '', 0, 0, oid::regprocedure::text,
               E'\\n' || rtrim(pg_get_functiondef(oid), E'\\n'),
               obj_description(oid, 'pg_proc')
          from pg_proc
         where pronamespace = 'coatcheck'::regnamespace)
      select text || coalesce(E'\\n' || repeat('  ', least(part, 2)) || '-- ' || comment, '')
        from line
       order by kind, relation collate "C", part, position, name collate "C"
      """;

  private static final String ORIGIN = "select origin from coatcheck.change_head";

  private static final String UNEXPLAINED =
      """
      select relname from pg_class
       where relnamespace = 'coatcheck'::regnamespace and relkind = 'r'
         and relname <> 'flyway_schema_history' and obj_description(oid, 'pg_class') is null
      """;

  /** As a role of the application could, whose database this is too. */
  @Test
  void noMigrationCallsWhatANeighbourPlants() {
    TestSql sql = TestDatabase.empty().sql();
    sql.execute(
        "create function public.planted(text, bigint) returns text language plpgsql"
            + " as $$ begin raise 'the planted operator ran as %', current_user; end $$",
        "create operator public.|| (function = public.planted, leftarg = text,"
            + " rightarg = bigint)");

    sql.migrate();

    assertThat(sql.texts(ORIGIN)).singleElement().asString().matches("[0-9]+/[0-9]+/[0-9]+");
  }

  @Test
  void aPoolerThatRefusesSettingsIsNotInTheWayOfMigrations(@TempDir Path folder)
      throws IOException {
    assumeTrue(PgBouncer.program().isPresent(), "no pgbouncer is installed");
    TestDatabase empty = TestDatabase.empty();
    try (PgBouncer pooler = PgBouncer.start(folder, empty, "session", 8, false, false)) {
      pooler.database().sql().migrate();
    }
    assertThat(empty.sql().texts(ORIGIN)).hasSize(1);
  }

  @Test
  void thePrintedSchemaIsThatOfTheMigrations() throws IOException {
    String schema = printed();
    if (Objects.equals(System.getProperty("docs"), "write")) {
      Files.writeString(PRINTED, schema);
    }
    assertThat(PRINTED)
        .as("run ./mvnw test -Dtest=SchemaTest -Ddocs=write to write it")
        .hasContent(schema);
  }

  private static String printed() {
    try (TestSession session = DATABASE.sql().session()) {
      session.execute("set search_path = ''");
      return "Printed by SchemaTest from the migrations.\n"
          + String.join("\n", session.texts(LINES))
          + "\n";
    }
  }

  @Test
  void everyTableIsExplainedToADba() {
    assertThat(DATABASE.sql().texts(UNEXPLAINED)).isEmpty();
  }
}
