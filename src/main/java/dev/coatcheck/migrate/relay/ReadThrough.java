package dev.coatcheck.migrate.relay;

import dev.coatcheck.bulk.load.LegacyKeyTable.LegacyKey;
import dev.coatcheck.ids.redirect.LegacySource;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.backfill.FillOnDemandTable;
import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Makes the mapping of one legacy ID that has none yet: reads its row in the source and mints on
 * the spot. A few at a time for each source, so that a source that hangs holds up no other.
 */
public final class ReadThrough implements LegacySource {
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

  @Override
  public boolean isFilling(Type type) {
    return active.mayHave(type.number());
  }

  /**
   * Makes the mapping if there is a row with that ID; says whether there is.
   *
   * @throws DatabaseUnavailable if the gateway's database or the source can't be asked now
   */
  @Override
  public boolean fillOnDemand(Type type, long legacy) {
    Optional<ActiveTable> table = active.withTriggers(type.number());
    Optional<Source> source = table.flatMap(one -> sources.named(one.source()));
    if (source.isEmpty()) {
      return false;
    }
    Semaphore permit =
        permits.computeIfAbsent(source.get().name(), _ -> new Semaphore(RUNNING_MAX));
    enter(permit);
    try {
      return fillOnDemand(table.orElseThrow(), source.get(), legacy);
    } finally {
      permit.release();
    }
  }

  private static void enter(Semaphore permit) {
    try {
      if (permit.tryAcquire(WAIT_MILLIS_MAX, TimeUnit.MILLISECONDS)) {
        return;
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
