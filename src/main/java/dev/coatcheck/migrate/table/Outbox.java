package dev.coatcheck.migrate.table;

import dev.coatcheck.bulk.load.LegacyKeyWriter;
import dev.coatcheck.bulk.load.LegacyKeyWriter.AlreadyThere;
import dev.coatcheck.bulk.load.LegacyKeyWriter.LegacyKey;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.LockTimeout;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Relays the entries of the triggers to the mappings. Entries are taken by row lock, not up to a
 * high-water mark, which would miss the entries of a transaction that commits late. An entry is
 * deleted only after its mapping is durable, so after a crash it is relayed again, which changes
 * nothing. A drain that takes too long is retried with fewer entries.
 */
public final class Outbox {
  private static final int ENTRIES_MAX = 2_000;
  private static final int TRIES_MAX = 8;

  /** After a drain that took too long, the next one takes this many bits less. */
  private static final int SLOW_BITS = 2;

  /** Look-ups may write the same mappings all the time: fewer entries mean fewer conflicts. */
  private static final int SHRINK_BITS = 3;

  /** Entries after which writers get the other table, and this one is truncated. */
  private static final int ENTRIES_PER_TABLE = 200_000;

  private final OutboxStore store;
  private long sinceSwitch;

  /** For the next drain. Each drain that ends in time doubles it. */
  private int entriesMax = ENTRIES_MAX;

  /**
   * Relays for one table.
   *
   * @param gateway the database with the mappings
   * @param isBeside whether that is also the database of the table
   */
  public Outbox(
      Database source,
      Database gateway,
      boolean isBeside,
      Target target,
      LegacyKeyWriter mappings) {
    this.store = new OutboxStore(source, gateway, isBeside, target, mappings);
  }

  /**
   * What was relayed.
   *
   * @param refused entries whose legacy ID or key already belongs to another mapping, which stays,
   *     and entries with a legacy ID that is not positive
   */
  public record Drained(int entries, List<LegacyKey> refused) {}

  /** Relays some entries, in the order of their keys. */
  public Drained drain() {
    int wanted = entriesMax;
    Drained drained = takeInTime();
    sinceSwitch += drained.entries();
    if (drained.entries() < wanted && sinceSwitch >= ENTRIES_PER_TABLE) {
      try {
        store.rotate();
        sinceSwitch = 0;
      } catch (LockTimeout writersFirst) {
        // Try again next time.
      }
    }
    return drained;
  }

  /** The number of waiting entries, and the age of the oldest key among them in seconds. */
  public record Lag(long entries, long seconds) {}

  public Lag lag() {
    return store.lag();
  }

  /** Splits the entries: all at once would take too long again. */
  private Drained takeInTime() {
    try {
      Drained drained = take();
      entriesMax = Math.min(ENTRIES_MAX, 2 * entriesMax);
      return drained;
    } catch (DatabaseUnavailable late) {
      entriesMax = Math.max(1, entriesMax >> SLOW_BITS);
      throw late;
    }
  }

  /**
   * Relays the entries of some keys, even those that another session has taken and not finished.
   * The entries stay in the outbox.
   */
  public void publish(List<Long> keys) {
    repeated(
        _ -> {
          store.publish(keys);
          return true;
        });
  }

  private Drained take() {
    return repeated(
        tried -> store.take(Math.max(1, entriesMax >> (SHRINK_BITS * tried)), tried > 0));
  }

  /** Repeats until no other session was faster. */
  private static <T> T repeated(IntFunction<T> work) {
    AlreadyThere last = null;
    for (int tried = 0; tried < TRIES_MAX; tried++) {
      try {
        return work.apply(tried);
      } catch (AlreadyThere met) {
        last = met;
      }
    }
    throw new IllegalStateException("other writers wrote the same mappings repeatedly", last);
  }
}
