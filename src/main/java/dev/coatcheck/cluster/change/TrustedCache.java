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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A cache that serves only values that the change feed vouches for. An older value is reloaded, and
 * so is every value while the feed can't be read. If the load fails or is late, the caller decides
 * for how long the older value may be served. That value is served only if every later change is
 * known and none of them concerns it: once an instance has read the end of an ID, it never serves
 * that ID again.
 */
public final class TrustedCache<K, V> {
  /** Shorter than the feed remembers changes. Counted until the last good poll, not to now. */
  private static final long AGE_NANOS_MAX = Duration.ofSeconds(30).toNanos();

  /** From this age on, a value that is in use is reloaded in the background. */
  private static final long AGEING_NANOS = Duration.ofSeconds(25).toNanos();

  /** For how long values in steady use are gathered, to be reloaded by one statement. */
  private static final Duration GATHERING = Duration.ofMillis(200);

  /** How many values one statement reloads. */
  private static final int GATHERED_MAX = 1_000;

  /** How long a caller waits for a new value if an older one may be served. */
  private static final Duration PATIENCE = Duration.ofMillis(300);

  /** After a late answer, callers with an older value don't wait for this long. */
  private static final long LATE_NANOS = Duration.ofMillis(500).toNanos();

  /** Loads for callers that have an older value. The store has limits of its own. */
  private static final int TRUSTED_LOADS_MAX = 256;

  /** Longer than a load takes. */
  private static final Duration LOAD_MAX = Duration.ofSeconds(20);

  /** Loads for one answer, each but the first because of what was heard during the one before. */
  private static final int PASSES_MAX = 5;

  private static final int FORGOTTEN_MAX = 10_000;

  /** Few, so that a database in trouble isn't asked for every value at once. */
  private static final int DOUBTFUL_LOADS_MAX = 4;

  private final ChangeFeed feed;
  private final ChangeKind kind;
  private final BiFunction<K, V, List<String>> subjects;
  private final Cache<K, Entry<V>> entries;

  /** When values were forgotten, for loads that had begun before. */
  private final Cache<K, Long> forgotten;

  private final BoundedRefresh<List<K>, Map<K, V>> whileTrusted =
      new BoundedRefresh<>(TRUSTED_LOADS_MAX);
  private final BoundedRefresh<List<K>, Map<K, V>> inDoubt =
      new BoundedRefresh<>(DOUBTFUL_LOADS_MAX);
  private final Set<K> ageing = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean isGathering = new AtomicBoolean();
  private final AtomicBoolean isLate = new AtomicBoolean();
  private volatile long lateNano;

  /** The state of the feed before a load began. */
  private record Before(int generation, long position, long nano) {}

  /** A value and the state before its last load, in one object: fewer places in memory to visit. */
  private static final class Entry<V> {
    private final V value;
    private final int generation;
    private volatile long position;
    private volatile long nano;

    Entry(V value, Before load) {
      this.value = value;
      this.generation = load.generation();
      this.position = load.position();
      this.nano = load.nano();
    }

    /**
     * Counts as loaded anew if a load brought the same value, as most do: then the garbage
     * collector has nothing to move. A reader may see one new number beside an old one, which does
     * no harm: the value was the same before both loads.
     *
     * @return whether it was the same
     */
    boolean renew(V loaded, Before load) {
      if (generation != load.generation() || !value.equals(loaded)) {
        return false;
      }
      position = load.position();
      nano = load.nano();
      return true;
    }
  }

  /** The keys that one caller loads. */
  private record Load<K>(TrustedCache<K, ?> into, List<K> keys) {}

  /** Whether the feed was trusted before they were loaded. */
  private record Trust<K>(TrustedCache<K, ?> into, List<K> keys) {}

  /**
   * Creates an empty cache.
   *
   * @param subjects the changes that invalidate a value, as the feed names them
   */
  public TrustedCache(
      ChangeFeed feed, ChangeKind kind, BiFunction<K, V, List<String>> subjects, int entriesMax) {
    this.feed = feed;
    this.kind = kind;
    this.subjects = subjects;
    // The reading thread tidies up: waking another thread for a few entries takes longer.
    this.entries = Caffeine.newBuilder().maximumSize(entriesMax).executor(Runnable::run).build();
    this.forgotten =
        Caffeine.newBuilder()
            .maximumSize(FORGOTTEN_MAX)
            .expireAfterWrite(LOAD_MAX)
            .executor(Runnable::run)
            .build();
  }

  /** The value, if the cache can serve it without a load; never waits. */
  public Optional<V> ifTrusted(K key) {
    return feed.isTrusted() ? held(key) : Optional.empty();
  }

  /**
   * The value, loaded if needed; empty if there is none, which is not cached. A value in steady use
   * is reloaded before it is too old, so its callers never wait: they may be all requests of the
   * moment. Values that are due at the same time are reloaded together.
   *
   * @param staleMax for how long an older value may be served, in addition to the 30 s
   * @throws DatabaseUnavailable if no value may be served
   */
  public Optional<V> get(K key, Duration staleMax, Function<List<K>, Map<K, V>> load) {
    @Nullable Entry<V> entry = feed.isTrusted() ? entries.getIfPresent(key) : null;
    if (entry == null || !isCurrent(key, entry)) {
      return Optional.ofNullable(getAll(List.of(key), _ -> staleMax, load).get(key));
    }
    if (feed.state().ageNanos(entry.nano) > AGEING_NANOS
        && ageing.add(key)
        && isGathering.compareAndSet(false, true)) {
      CompletableFuture.delayedExecutor(
              GATHERING.toMillis(), TimeUnit.MILLISECONDS, Thread::startVirtualThread)
          .execute(() -> reloadAgeing(load));
    }
    return Optional.of(entry.value);
  }

  /** A value that is asked for again before its load ends is loaded twice, which does no harm. */
  private void reloadAgeing(Function<List<K>, Map<K, V>> load) {
    isGathering.set(false);
    List<K> gathered = new ArrayList<>(ageing);
    gathered.forEach(ageing::remove);
    for (int from = 0; from < gathered.size(); from += GATHERED_MAX) {
      List<K> keys =
          List.copyOf(gathered.subList(from, Math.min(gathered.size(), from + GATHERED_MAX)));
      whileTrusted.begin(keys, () -> loaded(keys, load));
    }
  }

  /**
   * Like {@link #get}, for many keys with one load of the missing ones. What the feed has heard
   * meanwhile counts for all of them: the values that changed are loaded once more, and all are if
   * the feed could not be read meanwhile. So it is after each further load.
   */
  public Map<K, V> getAll(
      List<K> keys, Function<K, Duration> staleMax, Function<List<K>, Map<K, V>> load) {
    Map<K, Entry<V>> values = HashMap.newHashMap(keys.size());
    List<K> open = keys;
    for (int pass = 0; pass < PASSES_MAX; pass++) {
      List<K> asked = open;
      Before before = NonBlockingAttempt.once(new Load<>(this, asked), this::now);
      boolean wasTrusted = NonBlockingAttempt.once(new Trust<>(this, asked), feed::isTrusted);
      asked.forEach(values::remove);
      valuesNow(asked, staleMax, load)
          .forEach((key, value) -> values.put(key, new Entry<>(value, before)));
      boolean isDeaf = wasTrusted && !feed.isTrusted();
      open =
          values.entrySet().stream()
              .filter(each -> isDeaf || !isUnchanged(each.getKey(), each.getValue()))
              .map(Map.Entry::getKey)
              .toList();
      if (open.isEmpty()) {
        Map<K, V> answer = HashMap.newHashMap(values.size());
        values.forEach((key, entry) -> answer.put(key, entry.value));
        return answer;
      }
      NonBlockingAttempt.leave(); // which would get the same answer again
    }
    throw new DatabaseUnavailable("cache: values changed during each load");
  }

  private Map<K, V> valuesNow(
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

  /**
   * Drops the value here, before the feed reports the change. A load that has begun already can't
   * put it back.
   */
  public void forget(K key) {
    forgotten.put(key, feed.nanoTime().getAsLong());
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
      // Not the values from before the wait: an ending may have been read meanwhile.
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

  /** The older values that may be served instead of an answer. */
  private Map<K, V> lastWords(List<K> keys, Function<K, Duration> staleMax) {
    Map<K, V> values = HashMap.newHashMap(keys.size());
    long now = feed.nanoTime().getAsLong();
    for (K key : keys) {
      @Nullable Entry<V> entry = entries.getIfPresent(key);
      long staleNanosMax = staleMax.apply(key).toNanos();
      if (entry != null
          && staleNanosMax > 0
          && now - entry.nano <= AGE_NANOS_MAX + staleNanosMax
          && (feed.isTrusted() || feed.silent().toNanos() <= staleNanosMax)
          && isUnchanged(key, entry)) {
        values.put(key, entry.value);
      }
    }
    return values;
  }

  private Map<K, V> loaded(List<K> keys, Function<List<K>, Map<K, V>> load) {
    Before before = NonBlockingAttempt.once(new Load<>(this, keys), this::now);
    Map<K, V> values = load.apply(keys);
    isLate.set(false);
    values.forEach(
        (key, value) -> {
          @Nullable Entry<V> older = entries.getIfPresent(key);
          if (older == null || !older.renew(value, before)) {
            entries.put(key, new Entry<>(value, before));
          }
          // Looked for after the value was put: a forget() from now on drops it by itself.
          Long forgottenNano = forgotten.getIfPresent(key);
          if (forgottenNano != null && forgottenNano - before.nano() >= 0) {
            entries.invalidate(key);
          }
        });
    return values;
  }

  private Before now() {
    FeedState state = feed.state();
    return new Before(state.generation(), state.position(), feed.nanoTime().getAsLong());
  }

  /** The value, if it was valid at the last successful poll. */
  private Optional<V> held(K key) {
    @Nullable Entry<V> entry = entries.getIfPresent(key);
    return entry == null || !isCurrent(key, entry) ? Optional.empty() : Optional.of(entry.value);
  }

  private boolean isCurrent(K key, Entry<V> entry) {
    return feed.state().ageNanos(entry.nano) <= AGE_NANOS_MAX && isUnchanged(key, entry);
  }

  /** Whether all later changes are known and none concerns the value. */
  private boolean isUnchanged(K key, Entry<V> entry) {
    FeedState state = feed.state();
    if (entry.generation != state.generation()) {
      return false;
    }
    boolean unchanged =
        !state.remembersAny(kind)
            || subjects.apply(key, entry.value).stream()
                .noneMatch(subject -> state.changedSince(kind, subject, entry.position));
    // What the feed remembered may have been dropped while it was looked through.
    return unchanged && entry.generation == state.generation();
  }
}
