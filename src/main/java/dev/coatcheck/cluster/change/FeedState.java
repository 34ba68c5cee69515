package dev.coatcheck.cluster.change;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.name.WireNamed;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The changes that this instance knows of, and how far it may be trusted. One thread reports the
 * replies, any thread asks. Pure: the caller passes in the monotonic time.
 *
 * <h2>Why no ended public ID is served</h2>
 *
 * A change that commits at t is in every poll sent after t, and nothing is trusted for longer than
 * {@value #TRUST_MILLIS} ms after the last such poll was sent. A loaded value carries the position
 * from before its load began. A change with a later number is remembered for two minutes and
 * invalidates the value, even if the load was slow and ended after the change.
 */
final class FeedState {
  static final long TRUST_MILLIS = 1_900;
  private static final long NANOS_PER_MILLI = 1_000_000;
  static final long TRUST_NANOS = TRUST_MILLIS * NANOS_PER_MILLI;

  /** Longer than any value is served: 30 s, and 60 s more during an outage. */
  private static final long REMEMBERED_NANOS = 120_000 * NANOS_PER_MILLI;

  /** Less than two minutes, because a change has its time a moment before its commit. */
  private static final long RECENT_NANOS = 115_000 * NANOS_PER_MILLI;

  private static final int REMEMBERED_MAX = 200_000;
  private static final long NOWHERE = -1;

  private final Map<ChangeKind, Map<String, Long>> recent = new EnumMap<>(ChangeKind.class);

  /** The number of the last change of each kind. */
  private final Map<ChangeKind, Long> lastOf = new ConcurrentHashMap<>();

  /** The remembered changes by their numbers, for those who follow the feed themselves. */
  private final NavigableMap<Long, Remembered> log = new ConcurrentSkipListMap<>();

  private volatile long position = NOWHERE;

  /** All known changes after this number are remembered. */
  private volatile long forgotten = NOWHERE;

  /** Since when no change was missed. */
  private volatile long startedNano;

  private volatile Optional<LastChange> last = Optional.empty();
  private volatile int generation;
  private volatile long goodNano;
  private volatile boolean good;
  private int remembered;

  private record Remembered(Change change, long nano) {}

  FeedState() {
    for (ChangeKind kind : ChangeKind.values()) {
      recent.put(kind, new ConcurrentHashMap<>());
    }
  }

  long position() {
    return position;
  }

  /** The change at the position, if it is the last one and its row is still there. */
  Optional<LastChange> last() {
    return last.filter(one -> one.change().number() == position);
  }

  /** Nanoseconds since the last successful poll was sent; a very large number if there was none. */
  long silentNanos(long nano) {
    return good ? nano - goodNano : Long.MAX_VALUE;
  }

  /** The age of something begun at {@code beganNano} when the last successful poll was sent. */
  long ageNanos(long beganNano) {
    return goodNano - beganNano;
  }

  boolean remembersAny(ChangeKind kind) {
    return !of(kind).isEmpty();
  }

  /** Whether the subject may have changed after position {@code since}. */
  boolean changedSince(ChangeKind kind, String subject, long since) {
    Long number = of(kind).get(subject);
    return number != null && number > since;
  }

  /** Whether there was any change of the kind after position {@code since}. */
  boolean changedSince(ChangeKind kind, long since) {
    return lastOf.getOrDefault(kind, NOWHERE) > since;
  }

  /**
   * Increases when changes may have been missed: values of an earlier generation are invalid. Read
   * this before the position.
   */
  int generation() {
    return generation;
  }

  /**
   * The first changes after {@code number}, in order; empty if some of them are no longer
   * remembered, or there is no such number yet.
   */
  Optional<List<Change>> after(long number, int changesMax) {
    long until = position;
    if (number < 0 || number > until) {
      return Optional.empty();
    }
    List<Change> changes =
        log.subMap(number, false, until, true).values().stream()
            .limit(changesMax)
            .map(Remembered::change)
            .toList();
    // Last: what was forgotten meanwhile may be missing.
    return number < forgotten ? Optional.empty() : Optional.of(changes);
  }

  /** The number after which all changes are remembered. */
  long forgotten() {
    return forgotten;
  }

  /** For how long all changes are remembered. */
  long rememberedNanos(long nano) {
    return Math.clamp(nano - startedNano, 0, REMEMBERED_NANOS);
  }

  /**
   * Begins with the changes of the last two minutes, if these are all of them. Otherwise the first
   * {@link #read} begins.
   */
  void begin(FeedReply.Read recent, long sentNano) {
    long first = recent.head() - recent.changes().size();
    if (recent.changes().size() < ChangeStore.READ_ROWS_MAX
        && (recent.changes().isEmpty() || recent.follows(first))) {
      Set<ChangeKind> _ = startAt(first, sentNano - RECENT_NANOS);
      Set<ChangeKind> changed = EnumSet.noneOf(ChangeKind.class);
      recent.changes().forEach(row -> hear(row, sentNano, changed));
    }
  }

  /**
   * Processes what a poll has read.
   *
   * @return the kinds that changed; all of them if changes were missed
   */
  Set<ChangeKind> read(FeedReply.Read read, long sentNano) {
    Set<ChangeKind> changed;
    if (position != NOWHERE && read.follows(position)) {
      changed = EnumSet.noneOf(ChangeKind.class);
      read.changes().forEach(change -> hear(change, sentNano, changed));
    } else {
      changed = startAt(read.head(), sentNano);
    }
    last = read.last();
    if (position == read.head()) {
      goodNano = sentNano;
      good = true;
      forget(sentNano);
    }
    return changed;
  }

  private void hear(FeedReply.Row row, long nano, Set<ChangeKind> changed) {
    WireNamed.find(ChangeKind.class, row.kind())
        .ifPresent(
            kind -> {
              of(kind).put(row.subject(), row.number());
              lastOf.put(kind, row.number());
              log.put(
                  row.number(),
                  new Remembered(new Change(row.number(), kind, row.subject()), nano));
              remembered++;
              changed.add(kind);
            });
    position = row.number();
    if (remembered > REMEMBERED_MAX) {
      startAt(row.number(), nano);
    }
  }

  /** Drops everything, because the changes are not known. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // Only one thread writes.
  private Set<ChangeKind> startAt(long head, long nano) {
    // In this order, or a reader would see no gap, or one after which it knows too much.
    startedNano = nano;
    forgotten = head;
    position = head;
    generation++;
    recent.values().forEach(Map::clear);
    log.clear();
    remembered = 0;
    return EnumSet.allOf(ChangeKind.class);
  }

  private void forget(long nano) {
    for (Map.Entry<Long, Remembered> oldest = log.firstEntry();
        oldest != null && nano - oldest.getValue().nano() > REMEMBERED_NANOS;
        oldest = log.firstEntry()) {
      Change change = oldest.getValue().change();
      of(change.kind()).remove(change.subject(), change.number());
      forgotten = change.number();
      log.remove(change.number());
      remembered--;
    }
  }

  private Map<String, Long> of(ChangeKind kind) {
    return requireNonNull(recent.get(kind));
  }
}
