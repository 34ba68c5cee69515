package dev.coatcheck.bench.speed;

import dev.coatcheck.bench.load.Generator;
import dev.coatcheck.bench.load.Load;
import dev.coatcheck.bench.machine.GatewayProcess;
import dev.coatcheck.bench.report.Goal;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * P18: keys without public IDs, many a call of one layout of each width, and one a call against
 * cached redirects.
 */
record KeySpeed(
    GatewayProcess gateway,
    Requests requests,
    InterleavedRounds turns,
    Generator generator,
    Goals goals) {
  private static final int MANY = 10_000;
  private static final Goal KEYS_MIN = Goal.atLeast(4_000_000);

  List<Row> measure(Path ids) throws IOException {
    String narrow = SnowflakeLayout.DEFAULT.name();
    String wide = SnowflakeLayout.WIDE_SEQUENCE.name();
    try (Load narrowKeys =
            Load.of(requests.keys(narrow, MANY).over(Requests.BATCH_CONNECTIONS), generator);
        Load wideKeys =
            Load.of(requests.keys(wide, MANY).over(Requests.BATCH_CONNECTIONS), generator);
        Load one = Load.of(requests.keys(narrow, 1), generator);
        Load redirects = Load.of(requests.redirects(ids), generator)) {
      List<Turns> taken =
          turns.take(
              Measure.P18.name(),
              List.of(
                  new Side("the gateway", narrowKeys::closed, MANY, gateway.cpu()),
                  new Side("the gateway", wideKeys::closed, MANY, gateway.cpu()),
                  new Side("the gateway", one::closed, gateway.cpu()),
                  new Side("its own cached redirects", redirects::closed, gateway.cpu())));
      return new Rows(Measure.P18, Measure.P18.what())
          .figure("", ", " + MANY + " a call", "a second", taken.get(0), Optional.of(KEYS_MIN))
          .figure(" wide", ", layout " + wide, "a second", taken.get(1), Optional.of(KEYS_MIN))
          .rate(
              " at 1",
              ", 1 a call",
              "a second",
              taken.get(2),
              taken.get(3),
              goals.at(Goal.ratioAtLeast(1)))
          .all();
    }
  }
}
