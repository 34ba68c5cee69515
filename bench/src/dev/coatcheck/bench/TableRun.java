package dev.coatcheck.bench;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.bench.backfill.BackfillSpeed;
import dev.coatcheck.bench.footprint.Footprint;
import dev.coatcheck.bench.footprint.IdempotencyRows;
import dev.coatcheck.bench.footprint.KeyOrder;
import dev.coatcheck.bench.footprint.MappingSize;
import dev.coatcheck.bench.footprint.StartSpeed;
import dev.coatcheck.bench.machine.Launcher;
import dev.coatcheck.bench.micro.MicroSpeed;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.bench.speed.HttpSpeed;
import dev.coatcheck.bench.speed.ImportSpeed;
import dev.coatcheck.bench.speed.Measure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Takes the measures of a plan, one after the other.
 *
 * @param folder empty, for homes and files of the run
 * @param stage hears what is done now
 */
record TableRun(HttpSpeed.Plan plan, Path folder, Consumer<String> stage) {
  /** Imports, backfills and starts take longer than a round. */
  private static final int RUNS_MAX = 3;

  private static final Set<Measure> MICRO = EnumSet.of(Measure.P9, Measure.P10, Measure.P11);
  private static final Set<Measure> OF_A_LAUNCHED_GATEWAY =
      EnumSet.of(Measure.P13, Measure.P22, Measure.P23);

  /**
   * The rows, in the order of the measures.
   *
   * @param requests where the measures over HTTP keep their mappings
   */
  List<Row> rows(Config requests)
      throws CommandFailed, StartFailed, IOException, InterruptedException {
    List<Row> rows = new ArrayList<>();
    if (takesAny(Measure.ofRequests())) {
      switch (HttpSpeed.measure(requests, folder, plan, stage)) {
        case HttpSpeed.Outcome.Measured(List<Row> measured) -> rows.addAll(measured);
        case HttpSpeed.Outcome.Occupied _ ->
            throw new CommandFailed("the database holds mappings. Give an empty one.");
      }
    }
    rows.addAll(ofMillions());
    rows.addAll(ofProcesses());
    if (takesAny(MICRO) && MicroSpeed.isBuilt()) {
      stage.accept("P9 to P11");
      rows.addAll(MicroSpeed.measure(plan.measures(), plan.round().toMillis() / 4e3));
    }
    rows.sort(Comparator.comparing(Measure::of)); // P8, for example, is taken with P3
    return rows;
  }

  private List<Row> ofMillions()
      throws CommandFailed, StartFailed, IOException, InterruptedException {
    List<Row> rows = new ArrayList<>();
    if (takes(Measure.P6)) {
      rows.addAll(ImportSpeed.measure(throwAway("import"), folder, plan.rows(), runs(), _ -> {}));
    }
    if (takes(Measure.P7)) {
      rows.addAll(BackfillSpeed.measure(throwAway("backfill"), plan.rows() / 2, runs(), _ -> {}));
    }
    if (takes(Measure.P14)) {
      rows.add(MappingSize.measure(throwAway("size"), plan.rows(), _ -> {}).row());
    }
    if (takes(Measure.P17)) {
      rows.addAll(KeyOrder.measure(folder.resolve("order"), runs()));
    }
    if (takes(Measure.P20)) {
      rows.addAll(IdempotencyRows.measure(throwAway("answers")));
    }
    return rows;
  }

  private List<Row> ofProcesses() throws IOException, InterruptedException {
    List<Row> rows = new ArrayList<>();
    Launcher launcher = Launcher.find();
    if (takes(Measure.P12)) {
      rows.addAll(StartSpeed.measure(launcher, folder.resolve("start"), runs()));
    }
    if (takesAny(OF_A_LAUNCHED_GATEWAY)) {
      stage.accept("P13, P22 and P23");
      Duration time = plan.round().multipliedBy(3);
      rows.addAll(
          Footprint.measure(
              launcher,
              folder.resolve("launched"),
              new Footprint.Plan(plan.measures(), time, time, plan.generator())));
    }
    return rows;
  }

  private int runs() {
    return Math.min(RUNS_MAX, plan.rounds());
  }

  /** Says so, if it takes the measure. */
  private boolean takes(Measure measure) {
    boolean takes = plan.measures().contains(measure);
    if (takes) {
      stage.accept(measure.name());
    }
    return takes;
  }

  private boolean takesAny(Collection<Measure> measures) {
    return measures.stream().anyMatch(plan.measures()::contains);
  }

  private Config throwAway(String name) throws CommandFailed, IOException {
    return BenchCommand.throwAway(Files.createDirectory(folder.resolve(name)));
  }
}
