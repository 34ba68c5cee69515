package dev.coatcheck.app.demo;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.ProgressBars;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import me.tongfei.progressbar.ProgressBar;
import tools.jackson.databind.JsonNode;

/** The table migration of the shop's orders, by the calls that anyone would make. */
final class ShopMigration {
  private static final String TABLE = "shop.orders";
  private static final String RUNS = "/v1/table-migrations";
  private static final Duration LOOK = Duration.ofMillis(200);

  private static final Map<String, String> PHASES =
      Map.of(
          "expand", "a column for the new keys, and triggers; from now on each new order has a key",
          "backfill", "old orders get their keys",
          "index", "a unique index on the new keys",
          "not_null", "every order has a key, and stays so",
          "children", "order lines refer to the new keys too",
          "verify", "every row is compared with its public ID and its legacy ID",
          "prepare_switch", "the indexes for the switch",
          "switch", "the new keys become the primary key, in one short transaction",
          "contract", "the legacy IDs leave the table");

  private final GatewayCalls gateway;
  private final Consumer<String> say;
  private String id = "";
  private String phase = "";

  /**
   * @param say prints a line
   */
  ShopMigration(GatewayCalls gateway, Consumer<String> say) {
    this.gateway = gateway;
    this.say = say;
  }

  /** Plans it, at a pace; returns its ID. */
  String plan(long rowsPerSecond) throws CommandFailed {
    gateway.put(
        "/v1/types/order",
        Map.of(
            "prefix",
            "ord",
            "key",
            "bigint",
            "redirect",
            Map.of("template", LinkTraffic.TARGET + "{id}"),
            "legacy",
            Map.of()));
    JsonNode run =
        gateway.post(
            RUNS, Map.of("table", TABLE, "type", "order", "created_at_column", "created_at"));
    id = run.path("id").asString();
    gateway.patch(path(""), Map.of("rows_per_second_max", rowsPerSecond, "batch_millis", 200));
    return id;
  }

  /** From the first column to the verified keys. */
  void fill() throws CommandFailed, InterruptedException {
    JsonNode preconditions = gateway.get(path("")).path("plan").path("preconditions");
    gateway.post(path("/start"), Map.of("accept", preconditions.findValuesAsString("code")));
    follow("done");
  }

  void switchKey() throws CommandFailed, InterruptedException {
    gateway.post(path("/switch"), Map.of());
    follow("done");
  }

  void contract() throws CommandFailed, InterruptedException {
    gateway.post(path("/contract"), Map.of("confirm", TABLE, "accept", List.of("old_column")));
    follow("contracted");
  }

  /** Compares everything once more; fails if anything is found. */
  JsonNode verify() throws CommandFailed, InterruptedException {
    gateway.post(path("/verify"));
    JsonNode report = follow("contracted").path("report");
    if (!report.path("clean").asBoolean(false)) {
      throw new CommandFailed("the verification of " + TABLE + " found errors: " + report);
    }
    return report;
  }

  /** Says each phase, until the run stops in the wanted state. */
  private JsonNode follow(String wanted) throws CommandFailed, InterruptedException {
    JsonNode run = gateway.get(path(""));
    while (run.path("state").asString().equals("running")) {
      String now = phase(run);
      if (!now.equals(phase) && PHASES.containsKey(now)) {
        phase = now;
        say.accept("  %-15s %s".formatted(now, PHASES.get(now)));
      }
      if (now.equals("backfill")) {
        run = watchBackfill();
      } else {
        Thread.sleep(LOOK);
        run = gateway.get(path(""));
      }
    }
    String state = run.path("state").asString();
    if (!state.equals(wanted)) {
      throw new CommandFailed(
          "the table migration is %s instead of %s: %s"
              .formatted(state, wanted, run.path("reason").asString("no reason is known")));
    }
    return run;
  }

  private JsonNode watchBackfill() throws CommandFailed, InterruptedException {
    JsonNode run = gateway.get(path(""));
    JsonNode progress = run.path("progress");
    try (ProgressBar bar =
        ProgressBars.open("  orders", " rows", progress.path("rows_total").asLong(0))) {
      while (run.path("state").asString().equals("running") && phase(run).equals("backfill")) {
        bar.maxHint(progress.path("rows_total").asLong(0));
        bar.stepTo(progress.path("rows_done").asLong(0));
        bar.setExtraMessage(run.path("reason").asString(""));
        Thread.sleep(LOOK);
        run = gateway.get(path(""));
        progress = run.path("progress");
      }
      bar.stepTo(progress.path("rows_done").asLong(0));
    }
    return run;
  }

  /** The phase of the first step that is not done. */
  private static String phase(JsonNode run) {
    if (run.path("goal").asString().equals("verify")) {
      return "verify";
    }
    for (JsonNode step : run.path("steps")) {
      if (!step.path("state").asString().equals("verified")) {
        return step.path("phase").asString();
      }
    }
    return "";
  }

  private String path(String action) {
    return RUNS + "/" + id + action;
  }
}
