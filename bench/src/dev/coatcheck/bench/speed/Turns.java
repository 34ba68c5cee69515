package dev.coatcheck.bench.speed;

import dev.coatcheck.bench.report.Samples;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;

/** The rounds of one side. */
record Turns(Side side, List<Side.Turn> turns) {
  Samples rates() {
    return samples(Side.Turn::perSecond);
  }

  Samples p50Millis() {
    return samples(turn -> turn.result().p50Millis());
  }

  Samples p99Millis() {
    return samples(turn -> turn.result().p99Millis());
  }

  /** CPU of the server for each request; empty where that isn't known. */
  Optional<Samples> serverMicros() {
    return known(Side.Turn::serverMicros);
  }

  /** CPU of Postgres for each request; empty where that isn't known. */
  Optional<Samples> postgresMicros() {
    return known(Side.Turn::postgresMicros);
  }

  private Samples samples(Function<Side.Turn, Double> figure) {
    return new Samples(turns.stream().map(figure).toList());
  }

  private Optional<Samples> known(Function<Side.Turn, OptionalDouble> figure) {
    return turns.stream().allMatch(turn -> figure.apply(turn).isPresent())
        ? Optional.of(samples(turn -> figure.apply(turn).orElseThrow()))
        : Optional.empty();
  }
}
