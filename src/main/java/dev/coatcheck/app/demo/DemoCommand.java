package dev.coatcheck.app.demo;

import dev.coatcheck.api.console.access.SignInLink;
import dev.coatcheck.api.server.PortInUse;
import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Gateway;
import dev.coatcheck.app.boot.Setting;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.app.client.TemporaryFolder;
import dev.coatcheck.core.id.RandomSource;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** {@code coatcheck demo}: a shop whose orders get new keys while it continues to sell. */
@Command(
    name = "demo",
    description = {
      "Shows a table migration to watch: a shop with 100,000 orders gets new keys while it"
          + " continues to sell, and all its old links keep working.",
      "Brings its own gateway and Postgres on free ports of this machine, and leaves nothing"
          + " behind, also after Ctrl-C."
    },
    sortOptions = false,
    footer = "  coatcheck demo --keep")
public final class DemoCommand implements Callable<Integer> {
  private static final int PACE_MAX = 100;

  /** The share of the time in which rows are filled; the rest are indexes and comparisons. */
  private static final double FILLING = 0.8;

  @Mixin private Output output = new Output();
  @Spec private CommandSpec spec;

  @Option(
      names = "--keep",
      description =
          "Continue after the migration, until Ctrl-C: the shop sells, the console answers.")
  private boolean keep;

  @Option(
      names = "--minutes",
      paramLabel = "N",
      defaultValue = "2",
      description = "How long the migration takes, about; 1 to 60. Default: ${DEFAULT-VALUE}.")
  private int minutes;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "0",
      description = "Port of the gateway on 127.0.0.1. Default: a free one.")
  private int port;

  /** For tests: a shop that is smaller, and a time that is shorter, by this factor. */
  @Option(names = "--pace", paramLabel = "N", hidden = true, defaultValue = "1")
  private int pace;

  @Override
  public Integer call() throws CommandFailed, InterruptedException {
    requireWithin("--minutes", minutes, 1, 60);
    requireWithin("--pace", pace, 1, PACE_MAX);
    requireWithin("--port", port, 0, 65_535);
    // Before the first log line: the demo says itself what happens.
    System.setProperty("coatcheck.log.level", "WARN");
    say("Coatcheck demo: a shop moves its orders to new keys, and continues to sell.");
    say("Starting a gateway and its Postgres …");
    TemporaryFolder folder = TemporaryFolder.make("coatcheck-demo-");
    SignInLink link = new SignInLink(new RandomSource(), System::nanoTime);
    Gateway gateway;
    try {
      gateway = Gateway.start(config(folder.path().resolve("home")), link);
    } catch (StartFailed failed) {
      folder.remove();
      throw new CommandFailed(
          failed.getCause() instanceof PortInUse
              ? "port " + port + " of 127.0.0.1 can't be used. Choose another one with --port."
              : String.valueOf(failed.getMessage()));
    }
    try {
      gateway.closeAtExit(() -> {});
      show(gateway, link);
      return 0;
    } catch (ShopFailed failed) {
      throw new CommandFailed("the shop's database failed: " + failed.getMessage());
    } finally {
      gateway.close();
      folder.remove();
    }
  }

  private void requireWithin(String flag, int value, int least, int most) throws Misused {
    if (value < least || value > most) {
      throw new Misused(flag + " must be a number from " + least + " to " + most + ".");
    }
  }

  private Config config(Path home) throws CommandFailed {
    // Without the variables of the environment, which are those of another gateway.
    return switch (Config.read(
        Map.of(),
        Map.of(
            Setting.HOME, home.toString(),
            Setting.PORT, Integer.toString(port),
            // The callers of old links come from many addresses, by the header of a proxy.
            Setting.TRUSTED_PROXIES, "127.0.0.1"))) {
      case Config.Parsed.Valid(Config config) -> config;
      case Config.Parsed.Invalid(List<String> faults) ->
          throw new CommandFailed(String.join("\n", faults));
    };
  }

  private void show(Gateway gateway, SignInLink link)
      throws CommandFailed, ShopFailed, InterruptedException {
    ShopSize size = ShopSize.at(pace);
    Path keyFile = gateway.developmentKey().orElseThrow();
    GatewayCalls calls = GatewayCalls.at(gateway.url(), keyFile);
    try (ShopStore store = ShopStore.open(gateway.databaseSettings());
        Workers workers = new Workers()) {
      say(
          "Filling the shop: %,d customers, %,d orders, %,d order lines …"
              .formatted(size.customers(), size.orders(), size.lines()));
      store.make(size);
      OrderWriter writer = new OrderWriter(store, size);
      workers.repeat("orders", Duration.ofMillis(20), writer::write);
      LinkTraffic traffic = new LinkTraffic(gateway.url(), calls, store, size);
      ShopMigration migration = new ShopMigration(calls, this::say);
      String run = migration.plan(rowsPerSecond(size));
      invite(gateway, link.make(key(keyFile)), run);
      Workers learners = new Workers();
      learners.repeat("learner", Duration.ofMillis(100 / pace + 10), traffic::learn);
      for (LinkTraffic.Caller caller : LinkTraffic.CALLERS) {
        workers.repeat(caller.userAgent(), Duration.ofMillis(150), () -> traffic.follow(caller));
      }
      say("The migration of shop.orders:");
      try (learners) {
        migration.fill();
        migration.switchKey();
      }
      writer.rollOut();
      say("  %-15s %s".formatted("(the shop)", "its next release reads the new keys"));
      Thread.sleep(Duration.ofSeconds(5).dividedBy(pace));
      migration.contract();
      JsonNode report = migration.verify();
      finish(gateway, store, report, writer, traffic);
    }
  }

  private void invite(Gateway gateway, String link, String run) {
    String url = gateway.url();
    say("");
    say("Open this link now; it signs you in once, within ten minutes:");
    say("  " + url + link + "?next=/console/migrations/" + run);
    say("");
    say("What to look at:");
    say("  " + url + "/console/migrations/" + run + "   the migration, phase by phase");
    say("  " + url + "/console/legacy         who still asks for old links");
    say("  " + url + "/console/overview       rates, times and errors of the gateway");
    say("  " + url + "/legacy/order/4711      an old link, as anyone may follow it");
    say("");
  }

  private void finish(
      Gateway gateway, ShopStore store, JsonNode report, OrderWriter writer, LinkTraffic traffic)
      throws CommandFailed, ShopFailed, InterruptedException {
    Map<String, Tally> tallies = new LinkedHashMap<>();
    tallies.put("writes", writer.writes());
    tallies.put("old_links", traffic.oldLinks());
    tallies.put("public_links", traffic.publicLinks());
    long orders = store.orders();
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("orders", orders);
    figures.put("verified", report.path("clean").asBoolean(false));
    tallies.forEach(
        (what, tally) -> figures.put(what, Map.of("tried", tally.tried(), "wrong", tally.wrong())));
    output.print(
        figures,
        out -> {
          out.println();
          out.printf("Done. %,d orders have new keys and public IDs; each was compared.%n", orders);
          print(out, "writes of the shop meanwhile", writer.writes());
          print(out, "old links followed", traffic.oldLinks());
          print(out, "public links followed", traffic.publicLinks());
        });
    for (Map.Entry<String, Tally> one : tallies.entrySet()) {
      if (one.getValue().firstFault().isPresent()) {
        throw new CommandFailed(
            "%,d of the %s went wrong. The first: %s"
                .formatted(
                    one.getValue().wrong(),
                    one.getKey().replace('_', ' '),
                    one.getValue().firstFault().get()));
      }
    }
    if (keep) {
      say("");
      say("The shop continues until Ctrl-C; the console is at " + gateway.url() + "/console.");
      new CountDownLatch(1).await();
    }
  }

  private static void print(PrintWriter out, String what, Tally tally) {
    out.printf("  %,9d %s, %,d wrong%n", tally.tried(), what, tally.wrong());
  }

  private long rowsPerSecond(ShopSize size) {
    double seconds = minutes * 60.0 / pace * FILLING;
    return Math.max(1, Math.round((size.orders() + size.lines()) / seconds));
  }

  private static String key(Path file) throws CommandFailed {
    try {
      return Files.readString(file).strip();
    } catch (IOException gone) {
      throw new CommandFailed("can't read the development key: " + gone.getMessage());
    }
  }

  /** A line for people; with --json standard output has the figures only. */
  private void say(String line) {
    PrintWriter out = output.isJson() ? spec.commandLine().getErr() : spec.commandLine().getOut();
    out.println(line);
    out.flush();
  }
}
