package dev.coatcheck.bench;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Gateway;
import dev.coatcheck.app.boot.OpenDatabase;
import dev.coatcheck.app.boot.Setting;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Access;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * P1 to P5 and P8: what gateways of its own answer over HTTP, against what the same machine does
 * without one. Generator, gateway and Postgres share that machine.
 */
public final class HttpSpeed {
  private static final Duration KEY_VALID = Duration.ofHours(1);

  private HttpSpeed() {}

  /**
   * What to measure.
   *
   * @param connections that send requests at the same time
   * @param rows to mint before, rounded up to thousands; at least one
   * @param round how long each turn takes
   * @param rounds how many turns of each measure and each baseline count
   */
  public record Plan(Set<Measure> measures, int connections, int rows, Duration round, int rounds) {
    /** By how much the progress will have advanced at the end. */
    public int steps() {
      int reads = measures.contains(Measure.P3) || measures.contains(Measure.P8) ? 3 : 0;
      int redirects = measures.contains(Measure.P1) ? 2 : 0;
      int resolves = measures.contains(Measure.P2) ? 2 : 0;
      int mints = measures.contains(Measure.P4) ? 1 + Writes.INSERTING_CLIENTS.size() : 0;
      int batches = measures.contains(Measure.P5) ? 2 : 0;
      return 1
          + IntStream.of(reads, redirects, resolves, mints, batches)
              .map(sides -> InterleavedRounds.steps(sides, rounds))
              .sum();
    }
  }

  /** What came of it. */
  public sealed interface Outcome {
    record Measured(List<Comparison> comparisons) implements Outcome {}

    /** The database holds mappings already, so it may be somebody's. */
    record Occupied() implements Outcome {}
  }

  /**
   * Measures on the database of the configuration, where minted rows and an API key of an hour
   * stay.
   *
   * @param folder empty, for an nginx
   */
  public static Outcome measure(Config config, Path folder, Plan plan, Progress progress)
      throws StartFailed, IOException, InterruptedException {
    Observer observer = new Observer();
    try (OpenDatabase opened = OpenDatabase.open(config, observer);
        BaselineStore store = new BaselineStore(opened.settings())) {
      if (store.holdsMappings()) {
        return new Outcome.Occupied();
      }
      Access access =
          new Access(
              opened.database(),
              Access.Trust.none(),
              new RandomSource(),
              observer,
              InstantSource.system());
      String key =
          access.create("bench", Set.of(Scope.ALL), Optional.of(KEY_VALID)).key().secretText();
      InterleavedRounds turns = new InterleavedRounds(plan.round(), plan.rounds(), progress);
      List<Comparison> all = new ArrayList<>();
      Tokens tokens;
      try (Gateway uncached = Gateway.start(config(config, opened.settings(), 0))) {
        Requests requests = Requests.to(uncached.url(), key, plan.connections());
        requests.register();
        requests.mint(plan.rows());
        store.fillTable();
        tokens = store.tokens();
        progress.advanced(1);
        all.addAll(new Reads(requests, store, tokens, turns).uncached(plan.measures()));
      }
      try (Gateway cached = Gateway.start(config(config, opened.settings(), tokens.count()))) {
        Requests requests = Requests.to(cached.url(), key, plan.connections());
        all.addAll(new Reads(requests, store, tokens, turns).cached(plan.measures(), folder));
        all.addAll(new Writes(requests, store, turns).measure(plan.measures()));
      }
      return new Outcome.Measured(all);
    }
  }

  /** One gateway more on a database that is open. */
  private static Config config(Config config, DatabaseSettings database, int cachedMappingsMax) {
    return switch (Config.read(
        Map.of(),
        Map.of(
            Setting.PORT, "0",
            Setting.HOME, config.home().toString(),
            Setting.DATABASE_URL, database.url(),
            Setting.DATABASE_USER, database.user(),
            Setting.DATABASE_PASSWORD, database.password(),
            Setting.CACHE_ENTRIES, Integer.toString(cachedMappingsMax)))) {
      case Config.Parsed.Valid(Config valid) -> valid;
      case Config.Parsed.Invalid invalid ->
          throw new IllegalStateException(invalid.faults().toString());
    };
  }
}
