package dev.coatcheck.cluster.change;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A cache that serves only what the change feed vouches for. While the feed can't be read, the
 * database is asked, and if that fails too, the caller says for how long the last word counts.
 */
public final class TrustedCache<K, V> {
  /** Less than the feed remembers changes for. Counted up to the last good poll, not to now. */
  private static final long AGE_NANOS_MAX = Duration.ofSeconds(30).toNanos();

  private final ChangeFeed feed;
  private final ChangeKind kind;
  private final BiFunction<K, V, List<String>> subjects;
  private final Cache<K, Entry<V>> entries;
  private final Refreshes<List<K>, Map<K, V>> refreshes = new Refreshes<>();

  /** A value, and what was known before its load began. */
  private record Entry<V>(V value, int generation, long position, long beganNano) {}

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
    this.entries = Caffeine.newBuilder().maximumSize(entriesMax).build();
  }

  /** What memory alone vouches for; never waits. */
  public Optional<V> ifTrusted(K key) {
    return feed.isTrusted() ? held(key) : Optional.empty();
  }

  /**
   * The value, or what is loaded now; empty if there is none, which is not remembered.
   *
   * @param staleMax how long the last word counts while neither feed nor database answer
   * @throws DatabaseUnavailable if nobody vouches for anything
   */
  public Optional<V> get(K key, Duration staleMax, Supplier<Optional<V>> load) {
    return Optional.ofNullable(
        getAll(
                List.of(key),
                _ -> staleMax,
                _ -> load.get().map(value -> Map.of(key, value)).orElseGet(Map::of))
            .get(key));
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
    if (missing.isEmpty()) {
      return values;
    }
    if (trusted) {
      values.putAll(loaded(missing, load));
    } else {
      values.putAll(inDoubt(missing, staleMax, load));
    }
    return values;
  }

  /** Drops it here, before the feed brings the news. */
  public void forget(K key) {
    entries.invalidate(key);
  }

  private Map<K, V> inDoubt(
      List<K> keys, Function<K, Duration> staleMax, Function<List<K>, Map<K, V>> load) {
    try {
      return refreshes.run(keys, () -> loaded(keys, load));
    } catch (DatabaseUnavailable noAnswer) {
      long silentNanos = feed.state().silentNanos(feed.nanoTime().getAsLong());
      Map<K, V> values = HashMap.newHashMap(keys.size());
      for (K key : keys) {
        Optional<V> value =
            silentNanos <= staleMax.apply(key).toNanos() ? held(key) : Optional.empty();
        values.put(key, value.orElseThrow(() -> noAnswer));
      }
      return values;
    }
  }

  private Map<K, V> loaded(List<K> keys, Function<List<K>, Map<K, V>> load) {
    int generation = feed.state().generation();
    long position = feed.state().position();
    long beganNano = feed.nanoTime().getAsLong();
    Map<K, V> values = load.apply(keys);
    values.forEach(
        (key, value) -> entries.put(key, new Entry<>(value, generation, position, beganNano)));
    return values;
  }

  /** What was right when the feed was last heard. */
  private Optional<V> held(K key) {
    @Nullable Entry<V> entry = entries.getIfPresent(key);
    return entry == null || !isCurrent(key, entry) ? Optional.empty() : Optional.of(entry.value());
  }

  private boolean isCurrent(K key, Entry<V> entry) {
    FeedState state = feed.state();
    if (entry.generation() != state.generation()
        || state.ageNanos(entry.beganNano()) > AGE_NANOS_MAX) {
      return false;
    }
    return !state.remembersAny(kind)
        || subjects.apply(key, entry.value()).stream()
            .noneMatch(subject -> state.changedSince(kind, subject, entry.position()));
  }
}
