package dev.coatcheck.migrate.relay;

import dev.coatcheck.bulk.load.LegacyKeyWriter.LegacyKey;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.mapping.UnmappedRows;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.table.FillOnDemandTable;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Creates missing mappings on demand: for a legacy ID from its row in the source, for keys from
 * their entries in the outbox. Each source has a few permits, so a source that hangs doesn't hold
 * up others.
 */
public final class ReadThrough implements UnmappedRows {
  private static final int RUNNING_MAX = 4;
  private static final long WAIT_MILLIS_MAX = 400;

  private final ActiveTables active;
  private final Sources sources;
  private final GatewayMappings mappings;
  private final Map<String, Semaphore> permits = new ConcurrentHashMap<>();

  public ReadThrough(ActiveTables active, Sources sources, GatewayMappings mappings) {
    this.active = active;
    this.sources = sources;
    this.mappings = mappings;
  }

  /**
   * Creates the mapping if a row with that ID exists.
   *
   * @return whether it exists
   */
  @Override
  public boolean fillOnDemand(Type type, long legacy) {
    Optional<ActiveTable> table = active.withTriggers(type.number());
    Optional<Source> source = table.flatMap(one -> sources.named(one.source()));
    if (source.isEmpty()) {
      return false;
    }
    try (Permit _ = enter(source.get())) {
      return fillOnDemand(table.orElseThrow(), source.get(), legacy);
    }
  }

  @Override
  public boolean mayHave(int typeNumber) {
    return active.mayHave(typeNumber);
  }

  /** From the commit of its row on, a key is also in the outbox, until its mapping is durable. */
  @Override
  public void publish(int typeNumber, List<Key> keys) {
    List<Long> numbers =
        keys.stream()
            .filter(Key.Bigint.class::isInstance)
            .map(key -> ((Key.Bigint) key).value())
            .toList();
    Optional<ActiveTable> table = active.withOutbox(typeNumber);
    Optional<Source> source = table.flatMap(one -> sources.named(one.source()));
    if (!numbers.isEmpty() && source.isPresent()) {
      try (Permit _ = enter(source.get())) {
        mappings.outbox(source.get(), table.orElseThrow().target(), typeNumber).publish(numbers);
      }
    }
  }

  private interface Permit extends AutoCloseable {
    @Override
    void close();
  }

  private Permit enter(Source source) {
    NonBlockingAttempt.leave();
    Semaphore permit = permits.computeIfAbsent(source.name(), _ -> new Semaphore(RUNNING_MAX));
    try {
      if (permit.tryAcquire(WAIT_MILLIS_MAX, TimeUnit.MILLISECONDS)) {
        return permit::release;
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    throw new DatabaseUnavailable("source row");
  }

  private boolean fillOnDemand(ActiveTable table, Source source, long legacy) {
    FillOnDemandTable rows = new FillOnDemandTable(source.database(), table.target());
    OptionalLong key = table.isContracted() ? rows.archived(legacy) : rows.find(legacy);
    if (key.isEmpty()) {
      return false;
    }
    mappings
        .writer(table.typeNumber())
        .insertAlone(mappings.database(), new LegacyKey(legacy, key.getAsLong()));
    return true;
  }
}
