package dev.coatcheck.app.cli.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Gateway;
import dev.coatcheck.app.cli.Terminal;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What {@code coatcheck migrate-table} says before, in and after the switch of a primary key. */
@Timeout(600)
class SwitchCommandTest {
  private static final Pattern RUN = Pattern.compile("Run ([0-9]+)");
  private static final TestDatabase DATABASE = TestDatabase.fresh();

  @TempDir static Path folder;
  private static Gateway gateway;
  private static Path keyFile;

  @BeforeAll
  static void start() throws Exception {
    Map<String, String> environment =
        Map.of(
            "COATCHECK_PORT", "0",
            "COATCHECK_DATABASE_URL", DATABASE.url(),
            "COATCHECK_DATABASE_USER", DATABASE.user(),
            "COATCHECK_DATABASE_PASSWORD", DATABASE.password());
    if (!(Config.read(environment, Map.of()) instanceof Config.Parsed.Valid(Config config))) {
      throw new AssertionError();
    }
    gateway = Gateway.start(config);
    String scopes = "--scope=types:write,table_migrations:read,table_migrations:write";
    List<String> create = new ArrayList<>(List.of("access", "create", "--name=dba", scopes));
    create.addAll(DATABASE.flags());
    Terminal made = Terminal.run(create.toArray(String[]::new));
    keyFile = Files.writeString(folder.resolve("key"), made.out());
  }

  @AfterAll
  static void stop() {
    gateway.close();
  }

  @Test
  void thePrimaryKeyMovesWithinAWindowAndMovesBack() {
    table("parcels", 50);
    execute(
        "create table public.stop (id bigserial primary key,"
            + " parcel_id bigint references public.parcels)",
        "insert into public.stop (parcel_id) select 1 from generate_series(1, 3)");
    Terminal plan = run("plan", "--table=parcels", "--type=parcels");
    String id = id(plan);
    assertThat(plan.out())
        .contains("  public.stop.parcel_id: parcel_id_snowflake_id\n")
        .contains("start runs the phases up to verify.", "adds two unique indexes (2,200 bytes)");
    assertThat(start(plan).out())
        .contains("[x] children [x] verify [ ] prepare_switch [ ] switch\n");

    Terminal late = run("switch", id, "--not-after=2026-01-31T02:00:00+02:00");
    assertThat(late.status()).isEqualTo(1);
    assertThat(late.err())
        .contains("is not switched: its time window closed before the switch began.")
        .contains("undo " + id + " --phase prepare_switch");
    assertThat(run("switch", id, "--not-before=9000-01-31T02:00:00Z", "--detach").out())
        .contains("Next: coatcheck migrate-table status " + id + " --watch");
    Awaitility.await().until(() -> run("status", id).out().contains("The run waits: "));
    assertThat(run("status", id).out())
        .contains("[x] prepare_switch [>] switch\n")
        .contains("Window of the switch: not before 9000-01-31T02:00:00Z.\n")
        .contains("The run waits: The switch waits until its time window opens at 9000-");
    assertThat(run("undo", id, "--phase=prepare_switch").out())
        .contains("Undone: prepare_switch and all later phases.");

    Terminal switched = run("switch", id);
    assertThat(switched.status()).as(switched.err()).isZero();
    assertThat(switched.out())
        .contains("[x] prepare_switch [x] switch\n")
        .endsWith("or undo " + id + " --phase switch, which moves the primary key back\n");
    assertThat(run("switch", id, "--not-before=tomorrow").err())
        .contains("(field_invalid)", "Send a time such as 2026-01-31T12:00:00Z");
    assertThat(run("undo", id, "--phase=switch").out())
        .contains("is done: 50 of 50 rows", "[x] prepare_switch [ ] switch\n")
        .contains("or switch " + id + ", which makes the new keys the primary key");
  }

  @Test
  void aRunThatKeepsItsPrimaryKeyHasNoSwitchAhead() {
    table("kept", 5);
    Terminal plan = run("plan", "--table=kept", "--type=kept", "--keep-primary-key");
    assertThat(plan.out()).contains("The primary key stays: start runs all phases.");

    Terminal done = start(plan);

    assertThat(done.out())
        .contains("Phases: [x] expand [x] backfill [x] index [x] not_null [x] verify\n")
        .endsWith("verify " + id(plan) + " at any time, or undo " + id(plan) + "\n");
    assertThat(run("switch", id(plan)).err())
        .contains("(table_migration_state)", "planned to keep the primary key");
  }

  @Test
  void aPlanIsOnePageAndItsSqlIsAskedFor() {
    table("page", 20);
    execute(
        "create function on_page() returns trigger language plpgsql as"
            + " 'begin insert into page_log select old.*; return null; end'",
        "create trigger audit after update on public.page for each row execute function on_page()");

    Terminal page = run("plan", "--table=page", "--type=page");

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
    assertThat(run("start", id(page), "--accept=keys_as_strings").err())
        .contains("(preconditions_not_accepted)", "\n  row_shape: ", "on_page (trigger audit)");
  }

  /** In the schema public, whatever the role is called, with a type of the same name. */
  private static void table(String name, int rows) {
    execute(
        "create table public.%s (id bigserial primary key)".formatted(name),
        "insert into public.%s select from generate_series(1, %d)".formatted(name, rows));
    List<String> all = arguments("types", "put", name, "--prefix=" + name);
    assertThat(Terminal.run(all.toArray(String[]::new)).status()).isZero();
  }

  /** With what the plan told to send. */
  private static Terminal start(Terminal plan, String... more) {
    String next = plan.lines().getLast();
    List<String> words =
        new ArrayList<>(Arrays.asList(next.substring(next.indexOf("start ")).split(" ", -1)));
    words.addAll(Arrays.asList(more));
    return run(words.toArray(String[]::new));
  }

  private static String id(Terminal plan) {
    return RUN.matcher(plan.out()).results().findFirst().orElseThrow().group(1);
  }

  private static Terminal run(String... arguments) {
    List<String> all = arguments("migrate-table");
    all.addAll(1, Arrays.asList(arguments));
    return Terminal.run(all.toArray(String[]::new));
  }

  private static List<String> arguments(String... first) {
    List<String> all = new ArrayList<>(Arrays.asList(first));
    all.add("--url=" + gateway.url());
    all.add("--key-file=" + keyFile);
    return all;
  }

  private static void execute(String... statements) {
    DATABASE.sql().execute(statements);
  }
}
