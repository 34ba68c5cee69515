package dev.coatcheck.cluster.change;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A cache that serves only what the change feed vouches for. An older value is loaded anew, and so
 * is every value while the feed can't be read. If the load fails or is late, the caller says for
 * how long the older value may be served. It is served only if every change since is known and none
 * is about it: an ID whose end was heard of is never served again.
 */
public final class TrustedCache<K, V> {
  /** Less than the feed remembers changes for. Counted up to the last good poll, not to now. */
  private static final long AGE_NANOS_MAX = Duration.ofSeconds(30).toNanos();

  /** From then on a value that is asked for is loaded anew beside its callers. */
  private static final long AGEING_NANOS = Duration.ofSeconds(25).toNanos();

  /** How long a caller waits for a new value while there is an older one that may be served. */
  private static final Duration PATIENCE = Duration.ofMillis(300);

  /** After a late answer, how long callers that may be served an older value do not wait. */
  private static final long LATE_NANOS = Duration.ofMillis(500).toNanos();

  /** Loads beside callers that may be served an older value; the store has bounds of its own. */
  private static final int TRUSTED_LOADS_MAX = 256;

  /** Few, so that a database in trouble isn't asked for everything at once. */
  private static final int DOUBTFUL_LOADS_MAX = 4;

  private final ChangeFeed feed;
  private final ChangeKind kind;
  private final BiFunction<K, V, List<String>> subjects;
  private final Cache<K, Entry<V>> entries;
  private final BoundedRefresh<List<K>, Map<K, V>> whileTrusted =
      new BoundedRefresh<>(TRUSTED_LOADS_MAX);
  private final BoundedRefresh<List<K>, Map<K, V>> inDoubt =
      new BoundedRefresh<>(DOUBTFUL_LOADS_MAX);
  private final AtomicBoolean isLate = new AtomicBoolean();
  private volatile long lateNano;

  /** What was known before a load began. */
  private record Before(int generation, long position, long nano) {}

  private record Entry<V>(V value, Before load) {}

  /** The load of these keys in the work of one caller. */
  private record Load<K>(TrustedCache<K, ?> into, List<K> keys) {}

  /**
   * Makes an empty one.
   *
   * @param subjects the changes that end a value, as the feed names them
   */
  public TrustedCache(
      ChangeFeed feed, ChangeKind kind, BiFunction<K, V, List<String>> subjects, int entriesMax) {
    this.feed = feed;
    this.kind = kind;
    this.subjects = subjects;
    // The thread that reads tidies up: to wake another for a few entries takes longer.
    this.entries = Caffeine.newBuilder().maximumSize(entriesMax).executor(Runnable::run).build();
  }

  /** What memory alone vouches for; never waits. */
  public Optional<V> ifTrusted(K key) {
    return feed.isTrusted() ? held(key) : Optional.empty();
  }

  /**
   * The value, or what is loaded now; empty if there is none, which is not remembered. A value that
   * is asked for all the time is loaded anew before it is too old, so that its callers never wait:
   * they may be all the requests under way.
   *
   * @param staleMax how long the last word counts, beyond the 30 s for which it does anyway
   * @throws DatabaseUnavailable if no value may be served
   */
  public Optional<V> get(K key, Duration staleMax, Supplier<Optional<V>> load) {
    List<K> keys = List.of(key);
    Function<List<K>, Map<K, V>> loadOne =
        _ -> load.get().map(value -> Map.of(key, value)).orElseGet(Map::of);
    @Nullable Entry<V> entry = feed.isTrusted() ? entries.getIfPresent(key) : null;
    if (entry == null || !isCurrent(key, entry)) {
      return Optional.ofNullable(getAll(keys, _ -> staleMax, loadOne).get(key));
    }
    if (feed.state().ageNanos(entry.load().nano()) > AGEING_NANOS) {
      whileTrusted.begin(keys, () -> loaded(keys, loadOne));
    }
    return Optional.of(entry.value());
  }

  /** As {@link #get}, for many keys with one load of those that are missing. */
  public Map<K, V> getAll(
      List<K> keys, Function<K, Duration> staleMax, Function<List<K>, Map<K, V>> load) {
    Map<K, V> values = HashMap.newHashMap(keys.size());
    boolean trusted = feed.isTrusted();
    List<K> missing = new ArrayList<>();
    for (K key : keys) {
      Optional<V> value = trusted ? held(key) : Optional.empty();
      value.ifPresentOrElse(found -> values.put(key, found), () -> missing.add(key));
    }
    if (!missing.isEmpty()) {
      values.putAll(renewed(missing, trusted, staleMax, load));
    }
    return values;
  }

  /** Drops it here, before the feed brings the news. */
  public void forget(K key) {
    entries.invalidate(key);
  }

  private Map<K, V> renewed(
      List<K> keys,
      boolean trusted,
      Function<K, Duration> staleMax,
      Function<List<K>, Map<K, V>> load) {
    Map<K, V> lastWords = lastWords(keys, staleMax);
    boolean isServable = lastWords.size() == keys.size();
    if (trusted && !isServable) {
      return loaded(keys, load);
    }
    BoundedRefresh<List<K>, Map<K, V>> refreshes = trusted ? whileTrusted : inDoubt;
    if (isServable && isLate()) {
      refreshes.begin(keys, () -> loaded(keys, load));
      return lastWords;
    }
    try {
      Deadline patience =
          isServable ? Deadline.after(PATIENCE).orEarlier() : Deadline.ofAnswer().orEarlier();
      return refreshes.run(keys, patience, () -> loaded(keys, load));
    } catch (DatabaseUnavailable noAnswer) {
      lateNano = feed.nanoTime().getAsLong();
      isLate.set(true);
      // Not what was found before the wait: meanwhile an ending may have been heard.
      Map<K, V> stale = lastWords(keys, staleMax);
      if (stale.size() < keys.size()) {
        throw noAnswer;
      }
      return stale;
    }
  }

  private boolean isLate() {
    return isLate.get() && feed.nanoTime().getAsLong() - lateNano < LATE_NANOS;
  }

  /** The older values that may be served in place of an answer. */
  private Map<K, V> lastWords(List<K> keys, Function<K, Duration> staleMax) {
    Map<K, V> values = HashMap.newHashMap(keys.size());
    long now = feed.nanoTime().getAsLong();
    for (K key : keys) {
      @Nullable Entry<V> entry = entries.getIfPresent(key);
      long staleNanosMax = staleMax.apply(key).toNanos();
      if (entry != null
          && staleNanosMax > 0
          && now - entry.load().nano() <= AGE_NANOS_MAX + staleNanosMax
          && (feed.isTrusted() || feed.state().silentNanos(now) <= staleNanosMax)
          && isUnchanged(key, entry)) {
        values.put(key, entry.value());
      }
    }
    return values;
  }

  private Map<K, V> loaded(List<K> keys, Function<List<K>, Map<K, V>> load) {
    Before before = NonBlockingAttempt.once(new Load<>(this, keys), this::now);
    Map<K, V> values = load.apply(keys);
    isLate.set(false);
    values.forEach((key, value) -> entries.put(key, new Entry<>(value, before)));
    return values;
  }

  private Before now() {
    FeedState state = feed.state();
    return new Before(state.generation(), state.position(), feed.nanoTime().getAsLong());
  }

  /** What was right when the feed was last heard. */
  private Optional<V> held(K key) {
    @Nullable Entry<V> entry = entries.getIfPresent(key);
    return entry == null || !isCurrent(key, entry) ? Optional.empty() : Optional.of(entry.value());
  }

  private boolean isCurrent(K key, Entry<V> entry) {
    return feed.state().ageNanos(entry.load().nano()) <= AGE_NANOS_MAX && isUnchanged(key, entry);
  }

  /** Whether all changes since are known, and none is about it. */
  private boolean isUnchanged(K key, Entry<V> entry) {
    FeedState state = feed.state();
    if (entry.load().generation() != state.generation()) {
      return false;
    }
    return !state.remembersAny(kind)
        || subjects.apply(key, entry.value()).stream()
            .noneMatch(subject -> state.changedSince(kind, subject, entry.load().position()));
  }
}
