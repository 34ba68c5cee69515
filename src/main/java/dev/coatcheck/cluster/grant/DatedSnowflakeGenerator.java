package dev.coatcheck.cluster.grant;

import dev.coatcheck.core.key.DatedKeyGenerator;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Snowflake keys for given times, from workers of a layout that are never leased. Workers are used
 * one after the other: the next one after a failover that may have lost grants of the current one.
 *
 * <h2>Why no key is issued twice</h2>
 *
 * Postgres counts the numbers that it grants for each tick of a worker, by the first millisecond of
 * the tick. It grants each number once, to one caller, even if the caller never uses the number. A
 * tick has room for as many keys as its sequence has numbers. A number n beyond that is exchanged
 * for a number of the tick n / room later, which counts its numbers itself. So a million rows with
 * the same day and no time of day take two statements per draw, not one for each full tick.
 */
final class DatedSnowflakeGenerator implements DatedKeyGenerator {
  /**
   * Each round draws keys of a full tick. More than a few are needed only if crowded spans overlap.
   */
  private static final int ROUNDS_MAX = 64;

  private static final long RETRY_MILLIS = 1_000;

  /** For all statements of a draw together. An import has no deadline of its own. */
  private static final Duration DRAW_MAX = Duration.ofSeconds(10);

  private final SnowflakeLayout layout;
  private final List<Integer> workers;
  private final DatedKeyStore store;
  private final Observer observer;

  DatedSnowflakeGenerator(
      SnowflakeLayout layout, List<Integer> workers, DatedKeyStore store, Observer observer) {
    this.layout = layout;
    this.workers = List.copyOf(workers);
    this.store = store;
    this.observer = observer;
  }

  @Override
  public KeyOutcome at(long[] millis) {
    DatedKeyGenerator.check(millis);
    return Deadline.after(DRAW_MAX).orEarlier().call(() -> drawn(millis));
  }

  private KeyOutcome drawn(long[] millis) {
    SortedMap<Long, Integer> wanted = new TreeMap<>();
    for (long each : millis) {
      wanted.merge(layout.millisOf(layout.position(each)), 1, Integer::sum);
    }
    List<Long> keys = new ArrayList<>(millis.length);
    for (int round = 0; !wanted.isEmpty(); round++) {
      if (round == ROUNDS_MAX) {
        return new KeyOutcome.Refused("the ticks after these are full", RETRY_MILLIS);
      }
      List<DatedKeyStore.Grant> grants = store.grant(layout.name(), workers, wanted);
      if (grants.isEmpty()) {
        return none();
      }
      wanted = exchanged(grants, keys);
    }
    return new KeyOutcome.Drawn(keys.stream().sorted().<Key>map(Key.Bigint::new).toList());
  }

  private KeyOutcome none() {
    KeyOutcome.NoKeys why = store.whyNone(layout.name(), workers);
    if (why instanceof KeyOutcome.Fenced) {
      observer.observe(new Event.KeysFenced("dated"));
    }
    return why;
  }

  /** Adds the keys that have room, and returns what to request instead of the others. */
  private SortedMap<Long, Integer> exchanged(List<DatedKeyStore.Grant> grants, List<Long> keys) {
    long room = layout.sequenceMax() + 1;
    SortedMap<Long, Integer> later = new TreeMap<>();
    for (DatedKeyStore.Grant grant : grants) {
      for (long number = grant.first(); number < grant.first() + grant.count(); number++) {
        if (number < room) {
          keys.add(layout.key(layout.position(grant.millis()) + number, grant.worker()));
        } else {
          later.merge(grant.millis() + number / room * layout.tickMillis(), 1, Integer::sum);
        }
      }
    }
    return later;
  }
}
