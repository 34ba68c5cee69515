package dev.coatcheck.cluster.grant;

import dev.coatcheck.core.key.DatedKeyGenerator;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.UuidV7;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The generators of keys for given times. */
public final class DatedKeyGenerators {
  private final DatedKeyStore store;
  private final Function<SnowflakeLayout, List<Integer>> workers;
  private final Observer observer;
  private final DatedKeyGenerator uuids = UuidV7.dated();

  /**
   * @param workers the dated workers of a layout that this instance may use, in order
   */
  public DatedKeyGenerators(
      Database database, Function<SnowflakeLayout, List<Integer>> workers, Observer observer) {
    this.store = new DatedKeyStore(database);
    this.workers = workers;
    this.observer = observer;
  }

  /** Empty if this instance has no dated worker of the layout. */
  public Optional<DatedKeyGenerator> of(KeyTimes keys) {
    return switch (keys) {
      case KeyTimes.UuidsV7 _ -> Optional.of(uuids);
      case KeyTimes.Snowflakes(SnowflakeLayout layout) ->
          Optional.of(workers.apply(layout))
              .filter(own -> !own.isEmpty())
              .map(own -> new DatedSnowflakeGenerator(layout, own, store, observer));
    };
  }
}
