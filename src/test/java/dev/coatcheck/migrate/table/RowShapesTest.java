package dev.coatcheck.migrate.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.source.ObjectNames;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.Target.TimeColumn;
import dev.coatcheck.migrate.source.UnfencedSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tables as customers have them. Whatever a table looks like, its rows get the keys that this test
 * works out for itself, and an undo leaves it as it was.
 */
class RowShapesTest {
  private static final long EPOCH = SnowflakeLayout.DEFAULT.epochMillis();
  private static final String PLAIN =
      "create table %t (%k bigserial primary key, created_at timestamptz, text text)";
  private static final String SECONDS =
      "insert into %t (created_at) select now() - make_interval(secs => 1000 - n)"
          + " from generate_series(1, 25) n";

  /**
   * A table.
   *
   * @param statements that make it; {@code %t} stands for its name, {@code %k} for its key
   */
  record Shape(
      String what,
      TableName table,
      String key,
      Optional<TimeColumn> time,
      List<String> statements) {
    Shape {
      statements = List.copyOf(statements);
    }

    String[] create() {
      return statements.stream().map(this::fill).toArray(String[]::new);
    }

    String fill(String sql) {
      return sql.replace("%t", table.quoted())
          .replace("%k", TableName.quoted(key))
          .replace("%a", new TableName(table.schema(), "audit").quoted());
    }

    @Override
    public String toString() {
      return what;
    }
  }

  @RegisterExtension static final MigrationFixture fixture = MigrationFixture.apart();

  @ParameterizedTest
  @MethodSource("all")
  void everyRowGetsItsKeyAndTheUndoLeavesTheTableAsItWas(Shape shape) {
    fixture.execute(shape.create());
    Target target = fixture.target(shape.table(), shape.key(), shape.time());
    List<Long> before = things(target);
    List<@Nullable Long> created = created(shape);
    long highest = fixture.count(shape.fill("select coalesce(max(%k), 0) from %t"));
    fixture.apply(target, Phase.EXPAND);
    try (SourceSession session = UnfencedSession.open(fixture.settings, target)) {
      Checkpoint start =
          new Backfill(session, target, Optional.empty(), _ -> Set.of()).checkpoint();
      fixture.fill(session, target, 1_024);
      List<Long> keys = fixture.column(shape.fill("select snowflake_id from %t order by %k"));
      assertThat(keys)
          .isEqualTo(KeyModel.keys(created, start.t0Millis(), start.lastPosition()))
          .isSorted()
          .doesNotHaveDuplicates()
          .allMatch(key -> key > highest && key < start.t0Millis() << 22);
      assertThat(start.highId()).isEqualTo(highest);
    }
    fixture.apply(target, Phase.INDEX, Phase.NOT_NULL);
    requireNewRowsComeAfter(shape);
    new OutboxStore(fixture.source, fixture.gateway.database, false, target, fixture.mappings)
        .rotate();
    requireNewRowsComeAfter(shape);

    ObjectNames names = target.objects();
    fixture.execute("truncate " + names.ours("outbox_a") + ", " + names.ours("outbox_b"));
    fixture.undo(target, Phase.NOT_NULL, Phase.INDEX, Phase.BACKFILL, Phase.EXPAND);

    assertThat(things(target)).isEqualTo(before);
    fixture.execute(shape.fill("insert into %t (text) values ('after')"));
  }

  private static void requireNewRowsComeAfter(Shape shape) {
    fixture.execute(shape.fill("delete from %t where text like 'new%'"));
    fixture.execute(shape.fill("insert into %t (text) values ('new')"));
    assertThat(fixture.column(shape.fill("select snowflake_id from %t where text like 'new%'")))
        .isEqualTo(fixture.column(shape.fill("select max(snowflake_id) from %t")));
  }

  /** Columns, indexes, triggers and constraints. */
  private static List<Long> things(Target target) {
    return fixture.column(
        """
        select count(*) from pg_attribute where attrelid = %1$d and attnum > 0 and not attisdropped
        union all select count(*) from pg_index where indrelid = %1$d
        union all select count(*) from pg_trigger where tgrelid = %1$d
        union all select count(*) from pg_constraint where conrelid = %1$d
        """
            .formatted(target.oid()));
  }

  /** The times of all rows in milliseconds since the epoch; without a zone they are UTC. */
  private static List<@Nullable Long> created(Shape shape) {
    String time = shape.time().map(column -> TableName.quoted(column.name())).orElse("null::date");
    List<@Nullable Long> created = new ArrayList<>();
    for (String millis :
        fixture.texts(
            shape.fill(
                "select coalesce(case when isfinite(<t>) then floor(extract(epoch from <t>) * 1000)"
                        .replace("<t>", time)
                    + " end::bigint::text, 'none') from %t order by %k"))) {
      created.add(millis.equals("none") ? null : Long.parseLong(millis) - EPOCH);
    }
    return created;
  }

  static Stream<Shape> all() {
    return Stream.of(rows(), keys(), times(), names(), company()).flatMap(List::stream);
  }

  private static List<Shape> rows() {
    return List.of(
        shape("empty", PLAIN),
        shape("one row", PLAIN, "insert into %t (created_at) values ('2024-02-03')"),
        shape(
            "gaps",
            PLAIN,
            SECONDS,
            "delete from %t where %k % 7 in (2, 3, 4)",
            "insert into %t (%k, created_at) values (5000000000, '2024-02-03'),"
                + " (5000000007, now() - interval '1 hour')"),
        shape("all but the first deleted", PLAIN, SECONDS, "delete from %t where %k > 1"));
  }

  private static List<Shape> keys() {
    return Stream.of(
            "smallserial",
            "integer generated by default as identity",
            "bigint generated always as identity")
        .map(
            type ->
                shape(
                    type,
                    "create table %t (%k "
                        + type
                        + " primary key, created_at timestamptz, text text)",
                    SECONDS))
        .toList();
  }

  private static List<Shape> times() {
    String table = "create table %t (%k bigserial primary key, created_at TYPE, text text)";
    String odd =
        """
        insert into %t (created_at) select case n % 10
            when 1 then 'infinity' when 2 then '-infinity' when 3 then '2099-01-01'
            when 4 then '2001-01-01' when 5 then null when 6 then now()
            when 7 then now() - interval '59 seconds' when 8 then '0044-03-15 BC'
            else timestamptz '2024-01-01' + make_interval(secs => (n * 7919) % 1000) end
          from generate_series(1, 25) n\
        """;
    return List.of(
        new Shape(
            "no time",
            table("no time"),
            "id",
            Optional.empty(),
            List.of(
                "create table %t (%k bigserial primary key, text text)",
                "insert into %t (text) select 'x' from generate_series(1, 25)")),
        shape(
            "over 4096 in a millisecond",
            PLAIN,
            "insert into %t (created_at) select timestamptz '2024-01-01' + make_interval(secs =>"
                + " n / 4500 * 0.001) from generate_series(1, 9000) n"),
        shape("odd", PLAIN, odd),
        shape("odd without zone", typed("timestamp"), table.replace("TYPE", "timestamp"), odd),
        shape("odd dates", typed("date"), table.replace("TYPE", "date"), odd));
  }

  private static List<Shape> names() {
    String long63 = "n".repeat(62);
    return List.of(
        named(new TableName("public", long63 + "a"), long63 + "k", long63 + "t"),
        named(new TableName("public", long63 + "b"), long63 + "k", long63 + "t"),
        named(
            new TableName("Schema \"X\"", "it's \"<id>\" ? {0} :a \\ größe ☃"),
            "<\"table\">",
            "a?"),
        named(new TableName("public", "$coatcheck$"), "$1", "$coatcheck$"));
  }

  private static Shape named(TableName table, String key, String time) {
    String column = TableName.quoted(time);
    return new Shape(
        table.text(),
        table,
        key,
        Optional.of(new TimeColumn(time, "timestamptz")),
        List.of(
            "create schema if not exists " + TableName.quoted(table.schema()),
            "create table %t (%k bigserial primary key, " + column + " timestamptz, text text)",
            "insert into %t ("
                + column
                + ") select timestamptz '2024-01-01'"
                + " + make_interval(secs => (n * 7919) % 1000) from generate_series(1, 30) n"));
  }

  /** What else may stand on a table. */
  private static List<Shape> company() {
    return List.of(
        shape(
            "views, generated columns, indexes, checks and row level security",
            "create table %t (%k bigserial primary key, created_at timestamptz, text text,"
                + " twice bigint generated always as (%k * 2) stored)",
            "create view all_of_it as select * from %t",
            "create materialized view counted as select count(*) from %t",
            "create index on %t (lower(text)) where text is not null",
            "create unique index on %t ((%k + 1)) include (text)",
            "alter table %t add constraint positive check (%k > 0)",
            "alter table %t add constraint not_both check (text is null or created_at is null)"
                + " not valid",
            SECONDS,
            "create policy none on %t using (false)",
            "alter table %t enable row level security"),
        shape(
            "triggers of the customer",
            PLAIN,
            "create table %a (id bigint)",
            "create function before_it() returns trigger language plpgsql as $$ begin"
                + " new.text := coalesce(new.text, '') || 'b'; return new; end $$",
            "create function after_it() returns trigger language plpgsql as $$ begin"
                + " insert into %a values (1); return null; end $$",
            "create trigger zz before insert or update on %t for each row execute function"
                + " before_it()",
            "create trigger aa after insert or update or delete on %t for each row execute function"
                + " after_it()",
            "create trigger bb after update on %t for each statement execute function after_it()",
            SECONDS));
  }

  private static Optional<TimeColumn> typed(String type) {
    return Optional.of(new TimeColumn("created_at", type));
  }

  private static TableName table(String what) {
    return new TableName("public", "t_" + Integer.toHexString(what.hashCode()));
  }

  private static Shape shape(String what, String... statements) {
    return shape(what, typed("timestamptz"), statements);
  }

  private static Shape shape(String what, Optional<TimeColumn> time, String... statements) {
    return new Shape(what, table(what), "id", time, List.of(statements));
  }
}
