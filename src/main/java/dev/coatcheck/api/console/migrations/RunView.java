package dev.coatcheck.api.console.migrations;

import dev.coatcheck.api.console.page.Chart;
import dev.coatcheck.api.console.page.Display;
import dev.coatcheck.api.routes.migrations.TableText;
import dev.coatcheck.migrate.run.Goal;
import dev.coatcheck.migrate.run.LoadSample;
import dev.coatcheck.migrate.run.RunEvent;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.StepState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigration.StepStatus;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.SetAside;
import dev.coatcheck.migrate.verify.Report;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * What the pages show of a run.
 *
 * @param type its name; empty until this instance learns of it
 */
record RunView(TableMigration run, String type, List<StepStatus> steps) {
  RunView {
    steps = List.copyOf(steps);
  }

  /**
   * A phase of the rail.
   *
   * @param mark {@code done}, {@code now}, {@code failed}, {@code undone} or {@code open}
   * @param at when its last step changed
   */
  record Stop(Phase phase, String mark, Optional<Instant> at, Optional<String> error) {}

  record Wait(String reason, Instant since, Instant until) {}

  String table() {
    return TableText.of(run.target().table());
  }

  String path() {
    return "/console/migrations/" + run.id();
  }

  String state() {
    return run.status().state().wireName();
  }

  boolean isRunning() {
    return run.status().state() == RunState.RUNNING;
  }

  /** The phase that it works on, or the next one. */
  String phase() {
    return run.status().state().isEnd()
        ? "–"
        : switch (run.status().goal()) {
          case UNDO -> "undo of " + run.status().undoPhase().map(RunView::words).orElse("all");
          case VERIFY -> "verify";
          case FORWARD, SWITCH, CONTRACT ->
              stops().stream()
                  .filter(stop -> !stop.mark().equals("done"))
                  .map(stop -> words(stop.phase()))
                  .findFirst()
                  .orElse("–");
        };
  }

  static String words(Phase phase) {
    return phase.wireName().replace('_', ' ');
  }

  /** The phases in their order. */
  List<Stop> stops() {
    List<Stop> stops = new ArrayList<>();
    for (Phase phase : Phase.values()) {
      List<StepStatus> own = steps.stream().filter(step -> step.phase() == phase).toList();
      if (!own.isEmpty()) {
        boolean isNow =
            isRunning()
                && run.status().goal() != Goal.UNDO
                && stops.stream().allMatch(before -> before.mark().equals("done"));
        stops.add(
            new Stop(
                phase,
                mark(own, isNow),
                own.stream().flatMap(step -> step.at().stream()).max(Comparator.naturalOrder()),
                own.stream().flatMap(step -> step.error().stream()).findFirst()));
      }
    }
    return stops;
  }

  private static String mark(List<StepStatus> steps, boolean isNow) {
    if (steps.stream().anyMatch(step -> step.state() == StepState.FAILED)) {
      return "failed";
    }
    if (steps.stream().allMatch(step -> step.state().isApplied())) {
      return "done";
    }
    return isNow
        ? "now"
        : steps.stream().anyMatch(step -> step.state() == StepState.UNDONE) ? "undone" : "open";
  }

  /** The rail and the page's buttons depend on it. */
  String shape() {
    return state()
        + "-"
        + run.status().goal().wireName()
        + "-"
        + run.status().occupies()
        + "-"
        + steps.stream().filter(step -> step.state().isApplied()).count();
  }

  /** In percent, rounded down, so that 100 means all. */
  long percent() {
    long total = run.progress().rowsTotal();
    return total == 0 ? 100 : Math.min(100, 100 * run.progress().rowsDone() / total);
  }

  String rows() {
    return "%s of %s"
        .formatted(
            Display.number(run.progress().rowsDone()),
            Display.count(run.progress().rowsTotal(), "row", "rows"));
  }

  /** Such as {@code 1,200 rows a second}, on the average so far, or an empty text. */
  String rate() {
    return rate(run.progress().rowsPerSecond());
  }

  /** Such as {@code about 3 min 10 s left}, at that rate, or an empty text. */
  String left() {
    return left(run.progress().rowsPerSecond());
  }

  private String rate(OptionalDouble perSecond) {
    return isRunning() && perSecond.isPresent()
        ? Display.count(Math.round(perSecond.getAsDouble()), "row", "rows") + " a second"
        : "";
  }

  private String left(OptionalDouble perSecond) {
    long seconds = run.progress().secondsLeft(perSecond).orElse(0);
    return isRunning() && seconds > 0
        ? "about " + Display.duration(Duration.ofSeconds(seconds)) + " left"
        : "";
  }

  /** All that the page of a run shows beside the run. */
  record Whole(
      RunView run,
      List<LoadSample> load,
      List<SetAside> setAside,
      Optional<Report> report,
      List<RunEvent> events) {
    Whole {
      load = List.copyOf(load);
      setAside = List.copyOf(setAside);
      events = List.copyOf(events);
    }

    boolean hasOlderEvents() {
      return !events.isEmpty() && events.getLast().number() > 1;
    }

    /** As {@link RunView#rate}, of the last two minutes. */
    String rate() {
      return run.rate(perSecond());
    }

    /** As {@link RunView#left}, at the rate of the last two minutes. */
    String left() {
      return run.left(perSecond());
    }

    private OptionalDouble perSecond() {
      OptionalDouble lately = LoadCharts.rowsPerSecond(load);
      return lately.isPresent() ? lately : run.run().progress().rowsPerSecond();
    }

    List<Chart> charts() {
      return LoadCharts.of(load, run.isRunning());
    }

    List<Wait> waits() {
      return LoadCharts.waits(load);
    }
  }
}
