package dev.coatcheck.migrate.plan;

import static dev.coatcheck.migrate.plan.SourceFixture.codes;
import static dev.coatcheck.migrate.plan.SourceFixture.detail;
import static dev.coatcheck.migrate.plan.SourceFixture.wish;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.TableSpec;
import dev.coatcheck.migrate.source.Target;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a sound table is made of, and what its applications have to be ready for. */
class TableSurveyTest {
  @RegisterExtension static final SourceFixture FIXTURE = new SourceFixture();

  @BeforeEach
  void clear() {
    FIXTURE.clear();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          id smallint                              | smallint | key_without_default
          id bigserial                             | bigint   | key_serial
          id integer generated always as identity  | integer  | key_identity
          id bigint default nextval('ids')         | bigint   | key_default
          """)
  void everyKindOfNumberIsAKey(String column, String type, String note) {
    FIXTURE.execute(
        "create sequence ids",
        "create table t (%s, x int, primary key (id))".formatted(column),
        "insert into t (id, x) overriding system value values (1, 1), (7, 2), (3, 3)");

    TableShape shape = FIXTURE.sound(wish("t"));

    assertThat(shape.keyColumn()).isEqualTo("id");
    assertThat(shape.keyType()).isEqualTo(type);
    assertThat(shape.highestId()).isEqualTo(7);
    assertThat(shape.size().rows()).isEqualTo(3);
    assertThat(shape.size().bytes()).isGreaterThanOrEqualTo(16_384);
    assertThat(shape.size().olderThanEpoch()).isZero();
    assertThat(shape.oid())
        .isEqualTo(Long.parseLong(FIXTURE.column("select 't'::regclass::oid").getFirst()));
    assertThat(codes(shape.notes())).containsExactly("created_at", note);
    if (note.equals("key_identity")) {
      assertThat(detail(shape.notes(), note)).contains("drops its sequence", "public.t_id_seq");
    }
    FIXTURE.execute("drop sequence ids cascade");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Say \"hi\"",
        "it's <oid>.a?b%s\\ üß",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
      })
  void aTableIsFoundByItsExactNameWhateverThatIs(String name) {
    String quoted = TableName.quoted(name);
    FIXTURE.execute(
        "create schema " + quoted,
        "create table %s.%s (%s bigserial primary key, %s timestamptz)"
            .formatted(quoted, quoted, quoted, TableName.quoted(name.substring(1) + "2")),
        "insert into %s.%s default values".formatted(quoted, quoted));
    try {
      TableShape shape =
          FIXTURE.sound(new TableSpec(name, name, Optional.of(name.substring(1) + "2"), false));

      assertThat(shape.keyColumn()).isEqualTo(name);
      assertThat(shape.size().rows()).isOne();
      assertThat(shape.createdAt())
          .contains(new Target.TimeColumn(name.substring(1) + "2", "timestamptz"));
    } finally {
      FIXTURE.execute("drop schema " + quoted + " cascade");
    }
  }

  @Test
  void aDroppedColumnAGeneratedOneViewsAndRowSecurityAreNoObstacle() {
    FIXTURE.execute(
        "create table t (old int, id bigserial primary key, twice bigint generated always as (id"
            + " * 2) stored, snowflake_id int)",
        "alter table t drop column old",
        "alter table t drop column snowflake_id",
        "insert into t default values",
        "create view v as select id from t",
        "create materialized view m as select twice from t",
        "alter table t enable row level security");

    TableShape shape = FIXTURE.sound(wish("t"));

    assertThat(shape.keyColumn()).isEqualTo("id");
    assertThat(detail(shape.notes(), "key_in_views")).contains("public.v").doesNotContain("m.");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          created_at timestamptz                   | created_at  | timestamptz
          "createdAt" timestamp(3)                 | createdAt   | timestamp
          created_at text, inserted_at date        | inserted_at | date
          created_at timestamptz, created date     | none        | Several columns may
          created_at text, inserted time           | none        | No column with a usual name
          """)
  void theTimeOfARowIsFoundByItsUsualNamesIfThereIsNoDoubt(
      String columns, String name, String type) {
    FIXTURE.execute(
        "create table t (id bigserial primary key, updated_at timestamptz, " + columns + ")");

    TableShape shape = FIXTURE.sound(wish("t"));

    if (name.equals("none")) {
      assertThat(shape.createdAt()).isEmpty();
      assertThat(detail(shape.notes(), "created_at")).contains(type, "The run uses no column");
    } else {
      assertThat(shape.createdAt()).contains(new Target.TimeColumn(name, type));
      assertThat(detail(shape.notes(), "created_at")).contains(name, "by its name");
    }
  }

  /** The epoch is a moment in UTC, whatever the zone of the session. */
  @Test
  void rowsOlderThanTheEpochAreCounted() {
    FIXTURE.execute(
        "create table t (id bigserial primary key, a timestamp, b timestamptz, c date)",
        "insert into t (a, b) values ('2022-12-31 23:59:59.999', '2022-12-31 23:59:59.999Z'),"
            + " ('2023-01-01 00:00:00', '2023-01-01 00:00:00Z'), (null, null),"
            + " ('infinity', 'infinity'), ('-infinity', '-infinity'), ('1970-01-01', '1970-01-01')",
        "update t set c = a");

    for (String column : List.of("a", "b", "c")) {
      TableShape shape = FIXTURE.sound(new TableSpec("public", "t", Optional.of(column), false));
      assertThat(shape.size().olderThanEpoch()).as(column).isEqualTo(2);
      assertThat(detail(shape.notes(), "older_than_epoch")).startsWith("2 rows ");
    }
  }

  /** Rows count that came after the last analyze, and also if there never was one. */
  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 10_000, 40_000})
  void theRowsOfALargeTableAreEstimated(int analyzedAt) {
    String rows =
        "insert into t (created) select case when n %% 4 = 0 then date '2020-01-01' end"
            + " from generate_series(%d, %d) n";
    String children = "insert into c select n from generate_series(%d, %d) n";
    FIXTURE.execute(
        "create table t (id bigserial primary key, created date) with (autovacuum_enabled = off)",
        "create table c (t_id bigint references t) with (autovacuum_enabled = off)",
        rows.formatted(1, analyzedAt),
        children.formatted(1, analyzedAt));
    if (analyzedAt >= 0) {
      FIXTURE.execute("analyze t", "analyze c");
    }
    int next = Math.max(0, analyzedAt) + 1;
    FIXTURE.execute(rows.formatted(next, 40_000), children.formatted(next, 40_000));
    TableSurvey large =
        new TableSurvey(new TableSurvey.Limits(1_000, 1_000, 3_600, 1 << 30), System::nanoTime);

    assertThat(large.inspect(FIXTURE.source, wish("t")))
        .isInstanceOfSatisfying(
            TableSurvey.Outcome.Sound.class,
            sound -> {
              assertThat(sound.shape().size().rows()).isBetween(35_000L, 45_000L);
              assertThat(sound.shape().size().olderThanEpoch()).isBetween(8_000L, 12_000L);
              assertThat(sound.shape().size().children().rows()).isBetween(10_000L, 45_000L);
              assertThat(codes(sound.shape().notes())).contains("rows_estimated");
            });
    assertThat(codes(FIXTURE.sound(wish("t")).notes())).doesNotContain("rows_estimated");
    assertThat(FIXTURE.sound(wish("t")).size().rows()).isEqualTo(40_000);
  }

  /** Each look at this clock is 24 ms later, so that the server seems half as fast. */
  @Test
  void theSpeedOfTheServerIsMeasuredByTheClockThatIsGiven() {
    FIXTURE.execute("create table t (id bigserial primary key)");
    AtomicLong nano = new AtomicLong();

    TableSurvey.Outcome inspection =
        new TableSurvey(() -> nano.addAndGet(24_000_000)).inspect(FIXTURE.source, wish("t"));

    assertThat(inspection)
        .isInstanceOfSatisfying(
            TableSurvey.Outcome.Sound.class,
            sound -> {
              assertThat(sound.shape().size().slowness()).isEqualTo(2);
              assertThat(sound.shape().highestId()).isZero();
              assertThat(sound.shape().size().rows()).isZero();
            });
  }

  @Test
  void childrenAreFoundOverAllSchemas() {
    FIXTURE.execute(
        "create schema \"Other\"",
        "create table t (id bigserial primary key, parent bigint constraint self references t,"
            + " code int unique, unique (id, code))",
        "create table \"Other\".\"Child\" (id serial primary key, \"T Id\" int"
            + " constraint \"to t\" references t on delete cascade deferrable initially deferred)",
        "create table codes (code int references t (code))",
        "create table two (a bigint, b int, constraint both_of foreign key (a, b)"
            + " references t (id, code))",
        "create table parts (n int, t bigint constraint parts_fk references t)"
            + " partition by list (n)",
        "create table parts_1 partition of parts default");

    TableShape shape = FIXTURE.sound(wish("t"));

    assertThat(detail(shape.notes(), "foreign_keys"))
        .endsWith(": \"Other\".\"Child\" (to t), public.parts (parts_fk), public.t (self).");
    assertThat(detail(shape.notes(), "composite_foreign_keys")).contains("public.two (both_of)");
    assertThat(codes(shape.notes())).doesNotContain("foreign_keys_on_partitions");
    FIXTURE.execute("drop schema \"Other\" cascade");
  }

  /** As in Pagila, where each partition of payment has its own, and one has none. */
  @Test
  void foreignKeysOnPartitionsAreFoundAndThePartitionsThatLackThem() {
    FIXTURE.execute(
        "create table t (id bigserial primary key)",
        "create table payment (t bigint, at date) partition by range (at)",
        "create table payment_1 partition of payment for values from ('2026-01-01') to"
            + " ('2026-02-01')",
        "create table payment_2 partition of payment for values from ('2026-02-01') to"
            + " ('2026-03-01')",
        "create table payment_3 partition of payment for values from ('2026-03-01') to"
            + " ('2026-04-01')",
        "alter table payment_1 add constraint of_t foreign key (t) references t",
        "alter table payment_3 add constraint of_t foreign key (t) references t");

    TableShape shape = FIXTURE.sound(wish("t"));

    assertThat(detail(shape.notes(), "foreign_keys_on_partitions"))
        .contains(
            "public.payment has it in public.payment_1, public.payment_3, but not in"
                + " public.payment_2");
    assertThat(detail(shape.notes(), "foreign_keys"))
        .endsWith(": public.payment_1 (of_t), public.payment_3 (of_t).");
  }

  @Test
  void oddThingsAboutTheKeyAreNoted() {
    FIXTURE.execute(
        "create table t (id bigint, x int check (x < 10), primary key (id) include (x))",
        "insert into t values (1, -1)",
        "alter table t replica identity full",
        "create function f() returns trigger language plpgsql as 'begin return new; end'",
        "create trigger far after delete on t for each row execute function f()",
        "alter table t enable replica trigger far");

    assertThat(codes(FIXTURE.sound(wish("t")).notes()))
        .contains("replica_triggers", "replica_identity")
        .doesNotContain("not_valid_checks", "key_includes", "key_tablespace");
    FIXTURE.execute("update t set x = 1", "alter table t add foreign key (x) references t");
    assertThat(codes(FIXTURE.sound(wish("t")).notes())).contains("key_includes");
    FIXTURE.execute(
        "alter table t drop constraint t_x_fkey",
        "update t set x = -1",
        "alter table t add constraint positive check (x > 0) not valid");
    assertThat(detail(FIXTURE.sound(wish("t")).notes(), "not_valid_checks"))
        .contains("never validated: positive of public.t CHECK ((x > 0)) NOT VALID.");
  }
}
