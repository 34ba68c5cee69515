package dev.coatcheck.api.console.migrations;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.page.ConsoleMode;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Theme;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.ConsoleSessions;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.migrate.plan.Estimate;
import dev.coatcheck.migrate.plan.Plan;
import dev.coatcheck.migrate.run.Goal;
import dev.coatcheck.migrate.run.Progress;
import dev.coatcheck.migrate.run.RunAction;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.StepState;
import dev.coatcheck.migrate.run.SwitchWindow;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.table.Checkpoint;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.Step;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The bar of a run. */
class RunActionsTest {
  private static final TableName TABLE = new TableName("public", "orders");

  private static TableMigration run(RunState state, boolean occupies, boolean keepPrimaryKey) {
    return new TableMigration(
        7,
        "gateway",
        new Target(
            new UUID(0, 7),
            TABLE,
            1,
            "id",
            "bigint",
            Optional.empty(),
            new Target.Anchors(TABLE, 1, 0),
            SearchPath.USUAL,
            List.of()),
        1,
        keepPrimaryKey,
        new Plan(1, 1, 1, 0, new Estimate(List.of(), 0, 0, 0, 0), List.of(), List.of(), List.of()),
        new TableMigration.Status(
            state, occupies, Goal.FORWARD, Optional.empty(), Optional.empty(), Optional.empty()),
        ThrottleSettings.DEFAULT,
        List.of(),
        new Progress(1, 0, new Checkpoint.Counts(0, 0, 0, 0)),
        null,
        SwitchWindow.ANY_TIME,
        new TableMigration.Times(Instant.EPOCH, Optional.empty(), Optional.empty()));
  }

  private static List<TableMigration.StepStatus> steps(boolean isSwitched) {
    return List.of(
        new TableMigration.StepStatus(
            Phase.SWITCH,
            Step.PRIMARY_KEY,
            isSwitched ? StepState.VERIFIED : StepState.PENDING,
            Optional.empty(),
            Optional.empty()));
  }

  private static Visit visit(ConsoleMode mode, Scope scope) {
    Caller caller = new Caller("key", "key", "dba", Rights.of(Set.of(scope)));
    return new Visit(
        new ConsoleSessions.Session(new ConsoleSessions.Token("token"), caller),
        mode,
        Actor.operator(),
        Theme.AUTO,
        "/console");
  }

  private static String actions(RunActions bar) {
    return bar.buttons().stream()
        .map(button -> button.action().name().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(" "));
  }

  @ParameterizedTest
  @CsvSource({
    "PLANNED, false, false, false, start set cancel",
    "RUNNING, true, false, false, pause set undo cancel",
    "PAUSED, true, false, false, resume set verify undo cancel",
    "FAILED, true, false, false, retry set verify undo cancel",
    "DONE, true, false, false, verify switch undo",
    "DONE, true, false, true, verify undo",
    "DONE, true, true, false, verify contract undo",
    "CONTRACTED, true, true, false, verify retire",
    "CONTRACTED, false, true, false, forget",
    "CANCELLED, true, false, false, undo",
    "CANCELLED, false, false, false, forget"
  })
  void aRunHasTheButtonsThatItsStateAllows(
      RunState state, boolean occupies, boolean isSwitched, boolean keeps, String expected) {
    RunActions bar =
        RunActions.of(
            run(state, occupies, keeps),
            steps(isSwitched),
            visit(ConsoleMode.ON, Scope.TABLE_MIGRATIONS_WRITE));

    assertThat(actions(bar)).isEqualTo(expected);
  }

  @Test
  void runsWithOtherButtonsHaveOtherShapes() {
    List<RunView> runs =
        Stream.of(RunState.CONTRACTED, RunState.CANCELLED)
            .flatMap(state -> Stream.of(true, false).map(occupies -> run(state, occupies, false)))
            .map(run -> new RunView(run, "order", steps(true)))
            .toList();

    assertThat(runs.stream().map(RunView::shape)).doesNotHaveDuplicates();
  }

  @Test
  void whoMayOnlyLookHasNoButtons() {
    TableMigration run = run(RunState.RUNNING, true, false);
    assertThat(
            RunActions.of(run, steps(false), visit(ConsoleMode.ON, Scope.TABLE_MIGRATIONS_READ))
                .buttons())
        .isEmpty();
    RunActions none = RunActions.of(run, steps(false), visit(ConsoleMode.READ_ONLY, Scope.ALL));
    assertThat(Html.text((out, html) -> JteactionsGenerated.render(out, html, none))).isBlank();
  }

  @Test
  void pauseIsAFormAndTheOthersAreLinks() {
    RunActions bar =
        RunActions.of(
            run(RunState.RUNNING, true, false),
            steps(false),
            visit(ConsoleMode.ON, Scope.TABLE_MIGRATIONS_WRITE));

    assertThat(Html.text((out, html) -> JteactionsGenerated.render(out, html, bar)))
        .contains(
            "<form method=\"post\" action=\"/console/migrations/7/pause\">",
            "name=\"form_token\" value=\"" + bar.formToken() + "\"",
            "<a class=\"button\" href=\"/console/migrations/7/throttle\">Throttle…</a>",
            "<a class=\"button danger\" href=\"/console/migrations/7/undo\">Undo…</a>");
    assertThat(RunActions.path(7, RunAction.SET)).isEqualTo("/console/migrations/7/throttle");
  }
}
