package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.plan.Precondition;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.table.Phase;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a plan says about the application, and what a start makes of that. */
@Timeout(600)
class AcceptanceTest {
  @RegisterExtension static final MigrationFixture FIXTURE = MigrationFixture.beside();

  private static final String INSERT = "insert into orders default values";

  private static final String AUDIT =
      """
      create function on_orders() returns trigger language plpgsql as $$
      begin
        insert into orders_log select tg_op, new.*;
        return null;
      end $$\
      """;

  @AfterEach
  void drop() {
    FIXTURE.execute(
        "drop table if exists orders cascade",
        "drop table if exists orders_log",
        "drop function if exists on_orders()");
  }

  @Test
  void aStartThatDoesNotAcceptWhatFailsUntilTheUndoChangesNothing() {
    audited();
    TableMigration run = FIXTURE.plan();
    assertThat(condition(run, "row_shape").found())
        .singleElement()
        .asString()
        .contains("on_orders (trigger audit): 'insert into orders_log select tg_op, new.*'");
    List<String> others =
        run.plan().preconditions().stream()
            .map(Precondition::code)
            .filter(code -> !code.equals("row_shape"))
            .toList();
    List<Long> before = things();

    ActionOutcome refused = start(run, others);

    assertThat(refused)
        .isInstanceOfSatisfying(
            ActionOutcome.NotAccepted.class,
            missing ->
                assertThat(missing.missing())
                    .singleElement()
                    .extracting(Diagnostic::code, Diagnostic::detail)
                    .satisfies(
                        said ->
                            assertThat(said.toString())
                                .contains("row_shape", "trigger audit", "name the columns")));
    assertThat(FIXTURE.now(run).status().state()).isEqualTo(RunState.PLANNED);
    assertThat(things()).isEqualTo(before);
    FIXTURE.execute(INSERT);

    FIXTURE.run(run);
    assertThatThrownBy(() -> FIXTURE.execute(INSERT))
        .hasStackTraceContaining("INSERT has more expressions than target columns");
    FIXTURE.undo(run, Phase.EXPAND);
    FIXTURE.execute(INSERT);
  }

  @Test
  void whatComesUpAfterThePlanRefusesItsStart() {
    FIXTURE.orders(10);
    TableMigration run = FIXTURE.plan();
    FIXTURE.execute(
        "create function on_orders() returns trigger language plpgsql as"
            + " 'begin return new; end'",
        "create trigger touch before update on orders for each row execute function on_orders()");

    ActionOutcome refused =
        start(run, run.plan().preconditions().stream().map(Precondition::code).toList());

    assertThat(refused)
        .isInstanceOfSatisfying(
            ActionOutcome.Refused.class,
            found ->
                assertThat(found.diagnostics())
                    .singleElement()
                    .satisfies(
                        one -> {
                          assertThat(one.code()).isEqualTo("update_triggers");
                          assertThat(one.detail()).startsWith("This appeared after the plan");
                        }));
  }

  @Test
  void rowsThatWouldLoseTheirTimeAreSampled() {
    FIXTURE.orders(1_000);
    assertThat(FIXTURE.plan().plan().notes()).noneMatch(note -> note.code().equals("times_lost"));
    FIXTURE.execute(
        "update orders set created_at = now() - interval '2 minutes' where id % 100 = 7");

    assertThat(FIXTURE.plan().plan().notes())
        .anySatisfy(
            note -> {
              assertThat(note.code()).isEqualTo("times_lost");
              assertThat(note.detail()).startsWith("Of 1000 rows that were looked at, ");
            });
  }

  /** With it the backfill leaves the column alone, and an update of the application doesn't. */
  @Test
  void theRemedyOfATriggerThatSetsLastUpdateKeepsIt() {
    FIXTURE.execute(
        "create table orders (id bigserial primary key, created_at timestamptz default now(),"
            + " last_update timestamptz default '2020-01-01')",
        "insert into orders (created_at) select now() - interval '1 day' from"
            + " generate_series(1, 300)",
        "create function on_orders() returns trigger language plpgsql as"
            + " 'begin new.last_update := now(); return new; end'",
        "create trigger last_updated before update on orders for each row"
            + " execute function on_orders()");
    String remedy = condition(FIXTURE.plan(), "update_triggers").found().getFirst();
    FIXTURE.execute(remedy);
    TableMigration run = FIXTURE.plan();
    assertThat(run.plan().preconditions().stream().map(Precondition::code))
        .doesNotContain("update_triggers");

    FIXTURE.run(run);

    assertThat(FIXTURE.count("select count(*) from orders where last_update > '2020-01-02'"))
        .isZero();
    FIXTURE.execute("update orders set created_at = now() where id = 1");
    assertThat(FIXTURE.count("select count(*) from orders where last_update > '2020-01-02'"))
        .isOne();
    FIXTURE.undo(run, Phase.EXPAND);
  }

  private static void audited() {
    FIXTURE.orders(10);
    FIXTURE.execute(
        "create table orders_log (op text, id bigint, created_at timestamptz)",
        AUDIT,
        "create trigger audit after insert on orders for each row"
            + " execute function on_orders()");
  }

  private static Precondition condition(TableMigration run, String code) {
    return run.plan().preconditions().stream()
        .filter(one -> one.code().equals(code))
        .findFirst()
        .orElseThrow();
  }

  private static ActionOutcome start(TableMigration run, List<String> accepted) {
    return FIXTURE
        .migrations()
        .start(run.id(), accepted, ActionRequest.by(MigrationFixture.ACTOR))
        .outcome();
  }

  /** Columns, triggers and indexes of the table, and schemas. */
  private static List<Long> things() {
    return FIXTURE.column(
        """
        select attnum from pg_attribute where attrelid = 'orders'::regclass
        union all select oid::bigint from pg_trigger where tgrelid = 'orders'::regclass
        union all select indexrelid::bigint from pg_index where indrelid = 'orders'::regclass
        union all select oid::bigint from pg_namespace
        """);
  }
}
