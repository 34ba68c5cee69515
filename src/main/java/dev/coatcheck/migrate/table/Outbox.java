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
 * Carries the entries that the triggers wrote to the mappings. Entries are taken by row lock, not
 * by a mark up to which all was read: such a mark would miss the entries of a transaction that
 * commits late. An entry is deleted only after its mapping is durable, so a crash repeats it, which
 * changes nothing. A drain that takes too long is tried again with fewer entries.
 */
public final class Outbox {
  private static final int ENTRIES_MAX = 2_000;
  private static final int TRIES_MAX = 8;

  /** After a drain that took too long the next one takes so much less. */
  private static final int SLOW_BITS = 2;

  /** Look-ups may write the same mappings all the time: the fewer entries, the fewer of those. */
  private static final int SHRINK_BITS = 3;

  /** Entries after which writers get the other table, and this one is truncated. */
  private static final int ENTRIES_PER_TABLE = 200_000;

  private final OutboxStore store;
  private long sinceSwitch;

  /** Of the next drain. Every drain that ends in time doubles it. */
  private int entriesMax = ENTRIES_MAX;

  /**
   * Follows one table.
   *
   * @param gateway where the mappings lie
   * @param isBeside whether that is the database of the table
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
   * What was brought.
   *
   * @param refused those whose legacy ID or key belongs to something else, which is left as it is,
   *     and those whose number is not positive, which no legacy ID is
   */
  public record Drained(int entries, List<LegacyKey> refused) {}

  /**
   * Brings some entries, in the order of their keys.
   *
   * @throws DatabaseUnavailable if one of the two databases can't be asked
   */
  public Drained drain() {
    int wanted = entriesMax;
    Drained drained = takeInTime();
    sinceSwitch += drained.entries();
    if (drained.entries() < wanted && sinceSwitch >= ENTRIES_PER_TABLE) {
      try {
        store.rotate();
        sinceSwitch = 0;
      } catch (LockTimeout writersFirst) {
        // The next time will do.
      }
    }
    return drained;
  }

  /** Entries that wait, and the age of the oldest key among them in seconds. */
  public record Lag(long entries, long seconds) {}

  public Lag lag() {
    return store.lag();
  }

  /** The same entries in one piece would take too long again. */
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
   * Brings the entries of some keys, of which another session may have taken some without having
   * ended. They stay where they are.
   *
   * @throws DatabaseUnavailable if one of the two databases can't be asked
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

  /** Until no other session was faster. */
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
