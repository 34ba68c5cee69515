package dev.coatcheck.app.cli.migrate;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import tools.jackson.databind.JsonNode;

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

  @Test
  void aTableIsPlannedStartedVerifiedAndUndone() {
    dba.table("orders", 2_000);

    Terminal plan = dba.run("plan", "--table=orders", "--type=orders", "--sql");
    assertThat(plan.status()).as(plan.err()).isZero();
    assertThat(plan.out())
        .contains("public.orders in the source gateway, type orders.", "2,000 rows", "ID 2000")
        .contains("expand: ", "not_null: ", "snowflake_id", "undone by")
        .containsPattern("Nothing was changed. Next: coatcheck migrate-table start [0-9]+");
    String id = Dba.id(plan);
    assertThat(dba.run("status", id).out()).contains("is planned: 0 of 2,000 rows");
    assertThat(dba.run("status").out()).contains(id + ",gateway,public.orders,planned");

    Terminal done = dba.start(plan);
    assertThat(done.status()).as(done.err()).isZero();
    assertThat(done.out())
        .isEqualTo(
            """
            Run %1$s of public.orders is done: 2,000 of 2,000 rows have their keys.
            Phases: [x] expand [x] backfill [x] index [x] not_null [x] verify [ ] prepare_switch [ ] switch [ ] contract
            Next: coatcheck migrate-table verify %1$s at any time, or switch %1$s, which makes the new keys the primary key
            """
                .formatted(id));
    assertThat(dba.run("status", id, "--watch")).isEqualTo(new Terminal(0, done.out(), ""));

    Terminal verified = dba.run("verify", id);
    assertThat(verified.status()).as(verified.err()).isZero();
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
            "The archive of public.orders is dropped from the source gateway. Its public IDs and"
                + " mappings stay.\n");
    Terminal again = dba.run("undo", id);
    assertThat(again.status()).isEqualTo(1);
    assertThat(again.err()).contains("(table_migration_state)", "Plan another run.");
  }

  @Test
  void whatAVerificationFindsIsPrintedAndFails() {
    dba.table("damaged", 10);
    Terminal plan = dba.run("plan", "--table=public.damaged", "--type=damaged");
    Terminal done = dba.start(plan);
    assertThat(done.status()).as(done.err()).isZero();
    dba.execute(
        "delete from coatcheck.alias where value = '7' and type_id ="
            + " (select type_id from coatcheck.type where name = 'damaged')");

    Terminal verified = dba.run("verify", Dba.id(plan));

    assertThat(verified.status()).isEqualTo(1);
    assertThat(verified.out()).containsPattern("(?s)FOUND .*: 1 - .*for instance 7");
    assertThat(verified.out()).containsPattern("(?m)^ok ");
    assertThat(verified.err())
        .contains("is failed: ", "Next: coatcheck migrate-table retry " + Dba.id(plan));
  }

  @Test
  void aRunIsTurnedPausedAndEnded() {
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
    assertThat(set.out()).contains("rows_per_second_max: 10\n", "archive_failures: false\n");
    assertThat(set.out())
        .contains("wal_megabytes_per_second_max: 700\n", "slot_megabytes_max: 800\n")
        .contains("vacuum_seconds_max: 0\n");
    assertThat(set.lines().getLast())
        .as("the whole command, with what the plan wants to have accepted")
        .isEqualTo(plan.lines().getLast().replace("Nothing was changed. ", ""));
    assertThat(dba.run("set", id, "--batch-millis=19").err())
        .contains("(throttle_out_of_range)", "20 to 10000");
    assertThat(dba.run("set", id).status()).isEqualTo(2);
    Terminal detached = dba.start(plan, "--detach");
    assertThat(detached.out()).contains("Next: coatcheck migrate-table status " + id + " --watch");
    assertThat(dba.run("pause", id).out()).contains("is paused");
    Terminal watched = dba.run("status", id, "--watch");
    assertThat(watched.status()).isEqualTo(1);
    assertThat(watched.err()).contains("is paused", "Next: coatcheck migrate-table resume " + id);
    assertThat(dba.run("cancel", id).out()).contains("is cancelled");
    assertThat(dba.run("retry", id).err()).contains("(table_migration_state)");
  }

  /** As the page shows them, but for the number of the run and what this plan wants accepted. */
  @Test
  void theFiveCommandsOfThePageLeadOldLinksSomewhere() throws Exception {
    dba.execute(
        "create schema shop",
        "create table shop.orders (id bigserial primary key, created_at timestamptz default now())",
        "insert into shop.orders select from generate_series(1, 10)");
    List<List<String>> commands = fiveCommands();
    assertThat(commands).hasSize(5);

    assertThat(dba.send(commands.get(0)).status()).isZero();
    Terminal plan = dba.send(commands.get(1));
    assertThat(plan.status()).as(plan.err()).isZero();
    String id = Dba.id(plan);
    assertThat(commands.get(2)).startsWith("migrate-table", "start", "7", "--accept");
    Terminal started = dba.start(plan);
    assertThat(started.status()).as(started.err()).isZero();
    for (List<String> command : commands.subList(3, 5)) {
      Terminal sent = dba.send(command.stream().map(word -> word.equals("7") ? id : word).toList());
      assertThat(sent.status()).as("%s: %s", command, sent.err()).isZero();
    }

    HttpResponse<Void> followed =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(URI.create(dba.gateway.url() + "/legacy/order/7")).build(),
                HttpResponse.BodyHandlers.discarding());
    assertThat(followed.headers().firstValue("Location").orElse("nowhere"))
        .startsWith("https://shop.example/orders/ord_");
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
  void whereThereIsNoTerminalALineComesEveryTenSeconds() throws Exception {
    dba.table("lined", 3_000);
    Terminal plan = dba.run("plan", "--table=lined", "--type=lined");
    String id = Dba.id(plan);
    dba.run("set", id, "--rows-per-second-max=100");
    dba.start(plan, "--detach");
    AtomicLong seconds = new AtomicLong();
    List<String> said = new CopyOnWriteArrayList<>();
    List<Long> times = new CopyOnWriteArrayList<>();
    PrintWriter err =
        new PrintWriter(Writer.nullWriter()) {
          @Override
          public void println(String line) {
            times.add(seconds.get());
            said.add(line);
          }
        };
    GatewayCalls gatewayCalls = new GatewayCalls();
    new CommandLine(gatewayCalls).parseArgs(dba.arguments(List.of()).toArray(String[]::new));
    CompletableFuture<JsonNode> followed =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                // Each look is two seconds after the one before.
                return new RunFollower(
                        new RunCalls(gatewayCalls, CommandSpec.create(), id),
                        err,
                        () -> TimeUnit.SECONDS.toNanos(seconds.addAndGet(2)))
                    .end();
              } catch (CommandFailed failed) {
                throw new AssertionError(failed);
              }
            },
            task -> Thread.ofPlatform().start(task));
    Awaitility.await().atMost(Duration.ofMinutes(2)).until(() -> said.size() >= 3);
    dba.run("cancel", id);
    followed.join();

    assertThat(said)
        .allMatch(
            line ->
                line.matches(
                    "public\\.lined [0-9]+% \\([0-9]+ of 3000 rows(, about .* left)?\\) .+"));
    for (int line = 1; line < times.size(); line++) {
      // The clock is read once more after each line.
      assertThat(times.get(line) - times.get(line - 1)).isBetween(10L, 14L);
    }
  }

  /** By SIGTERM: a shell may have made its children deaf to the SIGINT of Ctrl-C. */
  @Test
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
    Terminal plan = dba.run("plan", "--table=awaiting", "--type=awaiting");
    try (TestSession report = dba.database.sql().session()) {
      report.execute("set application_name = 'a long report'").beginSnapshot();
      dba.start(plan, "--detach");
      Awaitility.await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> dba.run("status", Dba.id(plan)).out().contains("a long report"));

      Terminal status = dba.run("status", Dba.id(plan));

      assertThat(status.out())
          .contains("The run waits: new-perm: waiting for old snapshots, held up by process ")
          .contains("application a long report), idle in transaction since 20")
          .containsPattern("To end process [0-9]+: select pg_terminate_backend\\([0-9]+\\)\n");
      report.rollback();
    }
    assertThat(dba.run("status", Dba.id(plan), "--watch").status()).isZero();
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
}
