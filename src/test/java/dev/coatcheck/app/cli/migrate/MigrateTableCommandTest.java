package dev.coatcheck.app.cli.migrate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.CoatcheckProgram;
import dev.coatcheck.app.cli.Terminal;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code coatcheck migrate-table} against a running gateway, with real tables beside it. */
@Timeout(600)
class MigrateTableCommandTest {
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

  /** As the page shows them, but for the number of the run and what this plan wants accepted. */
  @Test
  void theFiveCommandsOfThePageLeadOldLinksSomewhereAndBack() throws Exception {
    dba.execute(
        "create schema shop",
        "create table shop.orders (id bigserial primary key, created_at timestamptz)",
        "insert into shop.orders select n, now() - interval '1 day' from generate_series(1, 1200)"
            + " n");
    List<List<String>> commands = fiveCommands();
    assertThat(commands).hasSize(5);

    assertThat(dba.send(commands.get(0)).status()).isZero();
    List<String> withSql = new ArrayList<>(commands.get(1));
    withSql.add("--sql");
    Terminal plan = dba.send(withSql);
    assertThat(plan.status()).as(plan.err()).isZero();
    assertThat(plan.out())
        .contains("shop.orders in the source gateway, type order.", "1,200 rows", "ID 1200")
        .contains("expand: ", "not_null: ", "snowflake_id", "undone by")
        .containsPattern("Nothing was changed. Next: coatcheck migrate-table start [0-9]+");
    String id = Dba.id(plan);
    assertThat(dba.run("status", id).out()).contains("is planned: 0 of 1,200 rows");
    assertThat(dba.run("status").out()).contains(id + ",gateway,shop.orders,planned");
    assertThat(commands.get(2)).startsWith("migrate-table", "start", "7", "--accept");
    Terminal done = dba.start(plan);
    assertThat(done.status()).as(done.err()).isZero();
    assertThat(done.out())
        .isEqualTo(
            """
            Run %1$s of shop.orders is done: 1,200 of 1,200 rows have their keys.
            Phases: [x] expand [x] backfill [x] index [x] not_null [x] verify [ ] prepare_switch [ ] switch [ ] contract
            Next: coatcheck migrate-table verify %1$s at any time, or switch %1$s, which makes the new keys the primary key
            """
                .formatted(id));
    assertThat(dba.run("status", id, "--watch")).isEqualTo(new Terminal(0, done.out(), ""));
    assertThat(commands.get(3)).startsWith("migrate-table", "verify", "7");
    Terminal verified = dba.run("verify", id);
    assertThat(verified.status()).as(verified.err()).isZero();
    assertThat(commands.get(4)).startsWith("migrate-table", "undo", "7");
    assertThat(dba.run("undo", id).out())
        .contains("Undone: not_null and all later phases.", "is paused")
        .contains("Next: coatcheck migrate-table resume " + id);

    assertThat(dba.run("resume", id).status()).isZero();
    assertThat(dba.run("forget", id).err())
        .contains("(table_migration_state)", "Undo the run from expand on first");
    assertThat(dba.run("undo", id, "--phase=expand").out())
        .contains("Undone: expand and all later phases.")
        .contains("is cancelled: nothing of it is on the table.");
    assertThat(dba.run("forget", id).out())
        .isEqualTo(
            "The archive of shop.orders is dropped from the source gateway. Its public IDs and"
                + " mappings stay.\n");
    assertThat(dba.run("undo", id).err()).contains("(table_migration_state)", "Plan another run.");
    assertThat(dba.followed("/legacy/order/7")).startsWith("https://shop.example/orders/ord_");
  }

  private static List<List<String>> fiveCommands() throws IOException {
    String page = Files.readString(Path.of("docs/table-migrations.md"));
    String block =
        page.split("## In five commands", 2)[1].split("```sh\n", 2)[1].split("```", 2)[0];
    return block
        .lines()
        .map(line -> line.replaceFirst("\\s+#.*", "").replace("'", ""))
        .map(line -> List.of(line.split(" ", -1)))
        .map(words -> words.subList(1, words.size()))
        .toList();
  }

  @Test
  void aRunIsTurnedFollowedPausedAndEnded() {
    dba.table("slow", 3_000);
    Terminal plan = dba.run("plan", "--table=slow", "--type=slow");
    String id = Dba.id(plan);

    Terminal set =
        dba.run(
            "set",
            id,
            "--rows-per-second-max=10",
            "--archive-failures=false",
            "--wal-megabytes-per-second-max=700",
            "--slot-megabytes-max=800",
            "--vacuum-seconds-max=0");
    assertThat(set.out())
        .contains("rows_per_second_max: 10\n", "archive_failures: false\n")
        .contains("wal_megabytes_per_second_max: 700\n", "slot_megabytes_max: 800\n")
        .contains("vacuum_seconds_max: 0\n");
    assertThat(set.lines().getLast())
        .as("the whole command, with what the plan wants to have accepted")
        .isEqualTo(plan.lines().getLast().replace("Nothing was changed. ", ""));
    assertThat(dba.run("set", id, "--batch-millis=19").err())
        .contains("(throttle_out_of_range)", "20 to 10000");
    assertThat(dba.run("set", id).status()).isEqualTo(2);
    assertThat(dba.start(plan, "--detach").out())
        .contains("Next: coatcheck migrate-table status " + id + " --watch");
    requireALineEveryTenSeconds(id);
    assertThat(dba.run("pause", id).out()).contains("is paused");
    Terminal watched = dba.run("status", id, "--watch");
    assertThat(watched.status()).isEqualTo(1);
    assertThat(watched.err()).contains("is paused", "Next: coatcheck migrate-table resume " + id);
    assertThat(dba.run("cancel", id).out()).contains("is cancelled");
    assertThat(dba.run("retry", id).err()).contains("(table_migration_state)");
  }

  @Test
  void aVerificationThatIsPausedDoesNotCountAsClean() throws Exception {
    dba.table("paused", 50);
    Terminal plan = dba.run("plan", "--table=paused", "--type=paused");
    String id = Dba.id(plan);
    assertThat(dba.start(plan).status()).isZero();
    assertThat(dba.run("verify", id).status()).isZero();
    // As an instance does that waits for the table, and has not seen yet that the run is paused.
    dba.execute(
        """
        create function coatcheck.wait() returns trigger language plpgsql as $$ begin
          update coatcheck.table_migration set last_event = last_event + 1
           where migration_id = new.migration_id;
          insert into coatcheck.table_migration_event (migration_id, number, actor, kind, detail)
          values (new.migration_id, new.number + 1, 'instance', 'waiting', '');
          return null;
        end $$
        """,
        """
        create trigger wait after insert on coatcheck.table_migration_event
        for each row when (new.kind = 'pause') execute function coatcheck.wait()
        """);

    try (TestSession other = dba.database.sql().begin("lock public.paused");
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Terminal> verified = threads.submit(() -> dba.run("verify", id));
      Awaitility.await().until(() -> dba.run("status", id).out().contains("is running"));
      assertThat(dba.run("pause", id).status()).isZero();
      other.execute("rollback");

      assertThat(verified.get().status()).isEqualTo(1);
      assertThat(verified.get().err()).contains("is paused", "resume " + id);
    } finally {
      dba.execute("drop function coatcheck.wait cascade");
    }
    assertThat(dba.run("verify", id).status()).as("not paused since").isZero();
  }

  /** Where there is no terminal. Each look at the clock is five seconds after the one before. */
  private static void requireALineEveryTenSeconds(String id) {
    AtomicLong seconds = new AtomicLong();
    List<Long> times = new ArrayList<>();
    PrintWriter err =
        new PrintWriter(Writer.nullWriter()) {
          @Override
          public void println(String line) {
            assertThat(line)
                .matches("public\\.slow [0-9]+% \\([0-9]+ of 3000 rows(, about .* left)?\\) .+");
            times.add(seconds.get());
            if (times.size() == 3) {
              Thread.currentThread().interrupt();
            }
          }
        };
    GatewayCalls calls = new GatewayCalls();
    new CommandLine(calls).parseArgs(dba.arguments(List.of()).toArray(String[]::new));
    RunFollower follower =
        new RunFollower(
            new RunCalls(calls, id), err, () -> TimeUnit.SECONDS.toNanos(seconds.addAndGet(5)));

    assertThatThrownBy(follower::end)
        .isInstanceOf(CommandFailed.class)
        .hasMessageContaining("Run " + id + " continues in the gateway.");
    var _ = Thread.interrupted();
    for (int line = 1; line < times.size(); line++) {
      // The clock is read once more after each line.
      assertThat(times.get(line) - times.get(line - 1)).isBetween(10L, 15L);
    }
  }

  /** By SIGTERM: a shell may have made its children deaf to the SIGINT of Ctrl-C. */
  @Test
  @Tag("faults")
  void whoBreaksOffTheCommandHearsThatTheRunGoesOn() throws Exception {
    dba.table("interrupted", 3_000);
    Terminal plan = dba.run("plan", "--table=interrupted", "--type=interrupted");
    String id = Dba.id(plan);
    dba.run("set", id, "--rows-per-second-max=100");
    dba.start(plan, "--detach");
    List<String> command =
        new ArrayList<>(dba.arguments(List.of("migrate-table", "status", id, "--watch")));
    command.addFirst(CoatcheckProgram.write(folder.resolve("coatcheck")).toString());
    Process watching = new ProcessBuilder(command).redirectErrorStream(true).start();
    try (BufferedReader said = watching.inputReader()) {
      assertThat(said.readLine()).startsWith("public.interrupted ");

      watching.toHandle().destroy(); // Process.destroy would close what it says.

      assertThat(said.lines())
          .contains(
              "Run %1$s continues in the gateway. Watch it: coatcheck migrate-table status %1$s --watch. Pause it: coatcheck migrate-table pause %1$s"
                  .formatted(id));
    } finally {
      watching.destroyForcibly();
    }
    assertThat(dba.run("status", id).out()).contains("is running");
    dba.run("cancel", id);
  }

  @Test
  void aStatusNamesTheSessionThatARunWaitsFor() {
    dba.table("awaiting", 10);
    String id = Dba.id(dba.run("plan", "--table=awaiting", "--type=awaiting"));
    dba.execute(
        """
        update coatcheck.table_migration set reason = 'waiting for old snapshots',
               waits_for = '{"operation": "new-perm", "event": "waiting for old snapshots",
                 "sessions": [{"pid": 4711, "user": "report", "application": null,
                               "state": "active", "since": null},
                              {"pid": 0, "user": "report",
                               "application": "prepared transaction ''lost one''",
                               "state": "prepared", "since": null}]}'
         where table_name = 'awaiting'
        """);

    assertThat(dba.run("status", id).out())
        .contains("Reason: waiting for old snapshots\n")
        .contains("To end process 4711: select pg_terminate_backend(4711)\n")
        .contains("To end it: rollback prepared 'lost one', or commit prepared 'lost one'\n");
  }

  @Test
  void whatCantBeginSaysWhy() {
    dba.table("refused", 1);
    assertThat(dba.run("plan", "--table=refused", "--type=nothing").err())
        .contains("(type_unknown)");
    assertThat(dba.run("plan", "--table=refused", "--type=refused", "--source=no").err())
        .contains("(source_unknown)", "COATCHECK_SOURCE_<NAME>_URL");
    assertThat(dba.run("plan", "--table=a\"b", "--type=refused").err())
        .contains("(table_migration_refused)", "\n  table_malformed: Write the table as ");
    assertThat(dba.run("status", "999").err()).contains("(table_migration_unknown)");
    assertThat(dba.run("status", "x").status()).isEqualTo(2);
    assertThat(dba.run("status", "--watch").status()).isEqualTo(2);
    assertThat(dba.run("undo", "999", "--phase=verify").err()).contains("(field_invalid)");

    Terminal plan = dba.run("plan", "--table=refused", "--type=refused");
    dba.execute(
        """
        update coatcheck.table_migration set plan = jsonb_set(plan, '{preconditions}',
          '[{"code": "one", "detail": "First.", "found": [], "notSearched": null}]')
         where table_name = 'refused'
        """);
    Terminal started = dba.run("start", Dba.id(plan), "--accept=two,three");
    assertThat(started.status()).isEqualTo(1);
    assertThat(started.err()).contains("(preconditions_not_accepted)", "\n  one: First.");
  }

  @Test
  void aRunThatKeepsItsPrimaryKeyHasNoSwitchAheadAndSaysWhatAVerificationFinds() {
    dba.table("kept", 10);
    Terminal plan = dba.run("plan", "--table=public.kept", "--type=kept", "--keep-primary-key");
    String id = Dba.id(plan);
    assertThat(plan.out()).contains("The primary key stays: start runs all phases.");

    Terminal done = dba.start(plan);

    assertThat(done.out())
        .contains("Phases: [x] expand [x] backfill [x] index [x] not_null [x] verify\n")
        .endsWith("verify " + id + " at any time, or undo " + id + "\n");
    assertThat(dba.run("switch", id).err())
        .contains("(table_migration_state)", "planned to keep the primary key");

    dba.execute(
        "delete from coatcheck.alias where value = '7' and type_id ="
            + " (select type_id from coatcheck.type where name = 'kept')");
    Terminal verified = dba.run("verify", id);
    assertThat(verified.status()).isEqualTo(1);
    assertThat(verified.out()).containsPattern("(?s)FOUND .*: 1 - .*for instance 7");
    assertThat(verified.out()).containsPattern("(?m)^ok ");
    assertThat(verified.err()).contains("is failed: ", "Next: coatcheck migrate-table retry " + id);
  }

  /** Its indexes wait for a writer until the window has closed. */
  private static void isPostponedIfItsWindowClosesMeanwhile(String id) {
    Instant closes = Instant.now().plusSeconds(2);
    try (TestSession writer =
        dba.database.sql().begin("delete from public.parcels where id = 99")) {
      assertThat(dba.run("switch", id, "--not-after=" + closes, "--detach").status()).isZero();
      Awaitility.await().until(() -> Instant.now().isAfter(closes));
      writer.commit();
    }
    Terminal postponed = dba.run("status", id, "--watch");
    assertThat(postponed.status()).isEqualTo(1);
    assertThat(postponed.err())
        .contains("is not switched: its time window closed before the switch began.")
        .contains("undo " + id + " --phase prepare_switch");
  }

  @Tag("faults")
  @Test
  void thePrimaryKeyMovesWithinAWindowAndTheOldColumnIsTakenOff() {
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
    assertThat(dba.run("contract", id, "--confirm=public.parcels").err())
        .contains("(table_migration_state)", "Its primary key is not switched.");

    Terminal late = dba.run("switch", id, "--not-after=2026-01-31T02:00:00+02:00");
    assertThat(late.status()).isEqualTo(1);
    assertThat(late.err()).contains("(table_migration_state)", "The time window is over: ");
    isPostponedIfItsWindowClosesMeanwhile(id);
    assertThat(dba.run("switch", id, "--not-before=tomorrow").err())
        .contains("(field_invalid)", "Send a time such as 2026-01-31T12:00:00Z");
    assertThat(dba.run("switch", id, "--not-before=9000-01-31T02:00:00Z", "--detach").out())
        .contains("Next: coatcheck migrate-table status " + id + " --watch");
    Awaitility.await().until(() -> dba.run("status", id).out().contains("The run waits: "));
    assertThat(dba.run("status", id).out())
        .contains("[x] prepare_switch [>] switch [ ] contract\n")
        .contains("Window of the switch: not before 9000-01-31T02:00:00Z.\n")
        .contains("The run waits: The switch waits until its time window opens at 9000-");
    assertThat(dba.run("undo", id, "--phase=prepare_switch").out())
        .contains("Undone: prepare_switch and all later phases.")
        .contains("is done: 50 of 50 rows", "[ ] prepare_switch [ ] switch [ ] contract\n")
        .contains("or switch " + id + ", which makes the new keys the primary key");
    Terminal switched = dba.run("switch", id);
    assertThat(switched.status()).as(switched.err()).isZero();
    assertThat(switched.out())
        .contains("[x] prepare_switch [x] switch [ ] contract\n")
        .endsWith(
            "or undo %1$s --phase switch, which moves the primary key back, or old-columns %1$s, before contract\n"
                .formatted(id));

    dba.execute("create view public.full_parcels as select id from public.parcels");
    assertThat(dba.run("old-columns", id).out())
        .contains("  public.parcels.id\n")
        .contains("Needs a column, or goes with it: the view public.full_parcels\n")
        .contains("Not all statements were searched: pg_stat_statements is not installed")
        .contains("The keys have no times: the plan named no column with the time of a row.\n")
        .endsWith(
            "contract %s --confirm public.parcels --accept old_column, once that is met, which can't be undone\n"
                .formatted(id));
    assertThat(dba.run("contract", id, "--confirm=public.parcels", "--accept=old_column").err())
        .contains("(table_migration_refused)", "old_column_needed", "the view public.full_parcels");
    dba.execute("drop view public.full_parcels");
    assertThat(dba.run("contract", id, "--confirm=public.parcels").err())
        .contains("(preconditions_not_accepted)", "old_column: ");
    Terminal done = dba.run("contract", id, "--confirm=public.parcels", "--accept=old_column");
    assertThat(done.status()).as(done.err()).isZero();
    assertThat(done.out())
        .contains(
            "is contracted: the legacy IDs have left the table, and old links continue to work.")
        .contains("[x] switch [x] contract\n")
        .contains("verify " + id + " at any time, or retire " + id);
    assertThat(dba.run("status", id, "--watch")).isEqualTo(new Terminal(0, done.out(), ""));
    assertThat(dba.run("verify", id).out()).contains("50 rows compared; no errors found.");
    assertThat(dba.run("forget", id).err()).contains("Retire the run first");
    String retire = dba.run("retire", id, "--new-keys=none").out();
    assertThat(retire)
        .contains("- New rows get no mapping by themselves any more")
        .doesNotContain("drop trigger")
        .endsWith("retire %s --new-keys none --confirm public.parcels\n".formatted(id));
    assertThat(dba.run("retire", id, "--new-keys=none", "--sql").out()).contains("drop trigger");
    assertThat(dba.run("retire", id, "--new-keys=none", "--confirm=parcels").err())
        .contains("(field_invalid)");
    assertThat(dba.run("retire", id, "--new-keys=none", "--confirm=public.parcels").out())
        .contains("nothing of it is on the table")
        .endsWith("forget " + id + ", which drops the archive\n");
    assertThat(dba.run("undo", id).err())
        .contains("(table_migration_state)", "The run is contracted.");
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
