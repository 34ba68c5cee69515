package dev.coatcheck.cluster.grant;

import dev.coatcheck.core.key.DatedKeys;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import java.util.Optional;
import java.util.function.Predicate;

/** The generators of keys for given times. */
public final class DatedGenerators {
  private final DatedKeyStore store;
  private final Predicate<SnowflakeLayout> hasWorker;
  private final Observer observer;
  private final DatedKeys uuids = new DatedUuids();

  /**
   * @param hasWorker whether this instance may use the worker of a layout for dated keys
   */
  public DatedGenerators(
      Database database, Predicate<SnowflakeLayout> hasWorker, Observer observer) {
    this.store = new DatedKeyStore(database);
    this.hasWorker = hasWorker;
    this.observer = observer;
  }

  /** Empty if the layout has no worker for such keys, or this instance may not use it. */
  public Optional<DatedKeys> of(KeyScheme scheme, SnowflakeLayout layout) {
    return switch (scheme) {
      case UUIDV7 -> Optional.of(uuids);
      case SNOWFLAKE ->
          WorkerUses.dated(layout).isPresent() && hasWorker.test(layout)
              ? Optional.of(
                  new DatedSnowflakes(layout, WorkerUses.dated(layout).getAsInt(), store, observer))
              : Optional.empty();
    };
  }
}
