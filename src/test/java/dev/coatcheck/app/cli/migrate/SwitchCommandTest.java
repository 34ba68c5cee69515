package dev.coatcheck.app.cli.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.app.cli.Terminal;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.nio.file.Path;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What {@code coatcheck migrate-table} says before, in and after the switch of a primary key. */
@Timeout(600)
class SwitchCommandTest {
  @TempDir static Path folder;
  private static Dba dba;

  @BeforeAll
  static void open() throws Exception {
    dba = Dba.at(TestDatabase.fresh(), folder);
  }

  @AfterAll
  static void close() {
    dba.close();
  }

  @Test
  void thePrimaryKeyMovesWithinAWindowAndMovesBack() {
    dba.table("parcels", 50);
    dba.execute(
        "create table public.stop (id bigserial primary key,"
            + " parcel_id bigint references public.parcels)",
        "insert into public.stop (parcel_id) select 1 from generate_series(1, 3)");
    Terminal plan = dba.run("plan", "--table=parcels", "--type=parcels");
    String id = Dba.id(plan);
    assertThat(plan.out())
        .contains("  public.stop.parcel_id: parcel_id_snowflake_id\n")
        .contains("start runs the phases up to verify.", "adds two unique indexes (2,200 bytes)");
    assertThat(dba.start(plan).out())
        .contains("[x] children [x] verify [ ] prepare_switch [ ] switch [ ] contract\n");

    Terminal late = dba.run("switch", id, "--not-after=2026-01-31T02:00:00+02:00");
    assertThat(late.status()).isEqualTo(1);
    assertThat(late.err())
        .contains("is not switched: its time window closed before the switch began.")
        .contains("undo " + id + " --phase prepare_switch");
    assertThat(dba.run("switch", id, "--not-before=9000-01-31T02:00:00Z", "--detach").out())
        .contains("Next: coatcheck migrate-table status " + id + " --watch");
    Awaitility.await().until(() -> dba.run("status", id).out().contains("The run waits: "));
    assertThat(dba.run("status", id).out())
        .contains("[x] prepare_switch [>] switch [ ] contract\n")
        .contains("Window of the switch: not before 9000-01-31T02:00:00Z.\n")
        .contains("The run waits: The switch waits until its time window opens at 9000-");
    assertThat(dba.run("undo", id, "--phase=prepare_switch").out())
        .contains("Undone: prepare_switch and all later phases.");

    Terminal switched = dba.run("switch", id);
    assertThat(switched.status()).as(switched.err()).isZero();
    assertThat(switched.out())
        .contains("[x] prepare_switch [x] switch [ ] contract\n")
        .endsWith(
            "or undo %1$s --phase switch, which moves the primary key back, or old-columns %1$s, before contract\n"
                .formatted(id));
    assertThat(dba.run("switch", id, "--not-before=tomorrow").err())
        .contains("(field_invalid)", "Send a time such as 2026-01-31T12:00:00Z");
    assertThat(dba.run("undo", id, "--phase=switch").out())
        .contains("is done: 50 of 50 rows", "[x] prepare_switch [ ] switch [ ] contract\n")
        .contains("or switch " + id + ", which makes the new keys the primary key");
  }

  @Test
  void theOldColumnIsSearchedForAndTakenOff() {
    dba.table("boxes", 20);
    Terminal plan = dba.run("plan", "--table=boxes", "--type=boxes");
    String id = Dba.id(plan);
    dba.start(plan);
    assertThat(dba.run("contract", id, "--confirm=public.boxes").err())
        .contains("(table_migration_state)", "Its primary key is not switched.");
    dba.run("switch", id);
    dba.execute("create view public.full_boxes as select id from public.boxes");

    assertThat(dba.run("old-columns", id).out())
        .contains("  public.boxes.id\n")
        .contains("Needs a column, or goes with it: the view public.full_boxes\n")
        .contains("Not all statements were searched: pg_stat_statements is not installed")
        .contains("The keys have no times: the plan named no column with the time of a row.\n")
        .endsWith("contract %s --confirm public.boxes, which can't be undone\n".formatted(id));
    assertThat(dba.run("contract", id, "--confirm=public.boxes", "--accept=old_column").err())
        .contains("(table_migration_refused)", "old_column_needed", "the view public.full_boxes");
    dba.execute("drop view public.full_boxes");
    assertThat(dba.run("contract", id, "--confirm=public.boxes").err())
        .contains("(preconditions_not_accepted)", "old_column: ");

    Terminal done = dba.run("contract", id, "--confirm=public.boxes", "--accept=old_column");

    assertThat(done.status()).as(done.err()).isZero();
    assertThat(done.out())
        .contains("is contracted: the legacy IDs have left the table, and old links go on working.")
        .contains("[x] switch [x] contract\n")
        .endsWith("Next: coatcheck migrate-table plan, for another table\n");
    assertThat(dba.run("undo", id).err())
        .contains("(table_migration_state)", "The run is contracted.");
  }

  @Test
  void aRunThatKeepsItsPrimaryKeyHasNoSwitchAhead() {
    dba.table("kept", 5);
    Terminal plan = dba.run("plan", "--table=kept", "--type=kept", "--keep-primary-key");
    assertThat(plan.out()).contains("The primary key stays: start runs all phases.");

    Terminal done = dba.start(plan);

    assertThat(done.out())
        .contains("Phases: [x] expand [x] backfill [x] index [x] not_null [x] verify\n")
        .endsWith("verify " + Dba.id(plan) + " at any time, or undo " + Dba.id(plan) + "\n");
    assertThat(dba.run("switch", Dba.id(plan)).err())
        .contains("(table_migration_state)", "planned to keep the primary key");
  }

  @Test
  void aPlanIsOnePageAndItsSqlIsAskedFor() {
    dba.table("page", 20);
    dba.execute(
        "create function on_page() returns trigger language plpgsql as"
            + " 'begin insert into page_log select old.*; return null; end'",
        "create trigger audit after update on public.page for each row execute function on_page()");

    Terminal page = dba.run("plan", "--table=page", "--type=page");

    assertThat(page.status()).as(page.err()).isZero();
    assertThat(page.lines()).hasSizeLessThan(50);
    assertThat(page.out())
        .contains(
            "What  20 rows, highest ID 20", "Time  about ", "verify 1 s", "Disk  ", " of WAL ")
        .contains("Your application has to meet (found):\n  row_shape: ")
        .contains("on_page (trigger audit): 'insert into page_log select old.*': name the columns")
        .contains("create or replace trigger audit AFTER UPDATE ON public.page")
        .contains(
            "(not searched: pg_stat_statements is not installed in this database):\n"
                + "  prepared_star")
        .contains("(always):\n  keys_as_strings")
        .doesNotContain("alter table")
        .containsPattern("--accept [a-z_,]*row_shape");
    assertThat(dba.run("start", Dba.id(page), "--accept=keys_as_strings").err())
        .contains("(preconditions_not_accepted)", "\n  row_shape: ", "on_page (trigger audit)");
  }
}
