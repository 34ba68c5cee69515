package dev.coatcheck.ids.registry;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.group.SingleFlight;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * All types, in memory, and the only class that changes them. Changes by other instances arrive
 * with the change feed. Before an unknown prefix or name is refused, the types are read again, at
 * most ten times a second.
 */
public final class Registry implements AutoCloseable {
  private static final String TYPES = "types";
  private static final long RETRY_MILLIS = 500;
  private static final long UNKNOWN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** How long a caller waits for types that may be as they were. */
  private static final Duration PATIENCE = Duration.ofMillis(300);

  /** After a late answer, callers don't wait for this long. */
  private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  private final TypeStore store;
  private final EraStore eras;
  private final ChangeFeed feed;
  private final RandomSource random;
  private final Observer observer;
  private final Background background;
  private final LongSupplier nanoTime;
  private final ScheduledExecutorService reloader;
  private final AtomicBoolean reloadDue = new AtomicBoolean();
  private final ReentrantLock refreshing = new ReentrantLock();
  private final SingleFlight<String, Boolean> asking = new SingleFlight<>();
  private volatile long nextUnknownNanos;
  private volatile long lateUntilNanos;
  private volatile TypeSnapshot snapshot;

  private Registry(
      TypeStore store,
      EraStore eras,
      ChangeFeed feed,
      RandomSource random,
      Observer observer,
      LongSupplier nanoTime) {
    this.store = store;
    this.eras = eras;
    this.feed = feed;
    this.random = random;
    this.observer = observer;
    this.background = new Background("registry-reload", observer);
    this.nanoTime = nanoTime;
    long now = nanoTime.getAsLong();
    this.nextUnknownNanos = now;
    this.lateUntilNanos = now;
    this.snapshot = TypeSnapshot.of(feed.mark(), now, TypeStore.Revision.NONE, List.of());
    this.reloader = Background.timer("registry-reload");
  }

  /**
   * Loads all types and starts to follow them.
   *
   * @param sealKeys those that this instance has
   */
  public static Registry open(
      Database database,
      ChangeFeed feed,
      SealKeys sealKeys,
      RandomSource random,
      Observer observer,
      LongSupplier nanoTime) {
    TypeStore store = new TypeStore(database, sealKeys);
    EraStore eras = new EraStore(database, store, sealKeys);
    Registry registry = new Registry(store, eras, feed, random, observer, nanoTime);
    feed.onChange(ChangeKind.TYPE, registry::reloadSoon);
    registry.refresh();
    return registry;
  }

  /** All types, by name. */
  public List<Type> all() {
    return snapshot.all();
  }

  /** The layouts of the Snowflakes that some types generate. */
  public Set<SnowflakeLayout> keyLayouts(Predicate<Type> types) {
    return all().stream()
        .filter(types)
        .map(Type::generation)
        .filter(KeyTimes.Snowflakes.class::isInstance)
        .map(generation -> ((KeyTimes.Snowflakes) generation).layout())
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** The types that had public IDs in an older system. */
  public List<Type> withOlderSystem() {
    return snapshot.older();
  }

  /** Whether any type has URL templates. */
  public boolean hasUrlTemplates() {
    return !snapshot.templates().isEmpty();
  }

  /** The URL templates of all types that paths of this many segments may fit. */
  public List<LegacyUrlTemplate> urlTemplates(int segments) {
    return snapshot.templates().getOrDefault(segments, List.of());
  }

  /**
   * The type with the number that rows store. Never asks Postgres, because whoever has a row has
   * found its type before.
   */
  public Optional<Type> numbered(int number) {
    return Optional.ofNullable(snapshot.byNumber().get(number));
  }

  /**
   * The type as it is, as far as all changes are known that are 1.9 s old: for what a retired type
   * or a closed era must not do. Asks Postgres if the change feed doesn't vouch for the types in
   * memory, as after a time in which this process stood still. In an outage it is the type as it
   * was last known.
   *
   * @throws DatabaseUnavailable if types are known to have changed, and can't be read
   */
  public Type current(Type type) {
    long now = nanoTime.getAsLong();
    boolean isTrusted = feed.isTrusted(); // first, and then what it knows
    boolean isChanged = lacksChanges();
    if (isChanged || (!isTrusted && now - lateUntilNanos >= 0)) {
      NonBlockingAttempt.leave();
      Deadline patience = isChanged ? Deadline.ofAnswer() : Deadline.after(PATIENCE);
      try {
        patience.orEarlier().run(() -> refreshSince(now));
      } catch (DatabaseUnavailable outage) {
        if (lacksChanges()) {
          throw outage;
        }
        lateUntilNanos = nanoTime.getAsLong() + LATE_NANOS;
      }
    }
    return numbered(type.number()).orElse(type);
  }

  /**
   * The same for rows that wait for Postgres anyway: never the type as it was last known.
   *
   * @throws DatabaseUnavailable if Postgres is asked, and doesn't answer within 0.8 s
   */
  public Type currentForWrite(Type type) {
    long now = nanoTime.getAsLong();
    boolean isTrusted = feed.isTrusted(); // first, and then what it knows
    if (lacksChanges() || !isTrusted) {
      Deadline.ofAnswer().orEarlier().run(() -> refreshSince(now));
    }
    return numbered(type.number()).orElse(type);
  }

  private boolean lacksChanges() {
    return feed.hasChangedSince(ChangeKind.TYPE, snapshot.mark());
  }

  /**
   * The type with a name, which may be any text; a sealed type is {@linkplain #current current}. A
   * text that can't be a name causes no query.
   */
  public Optional<Type> named(String name) {
    return Type.isName(name) ? find(types -> types.byName().get(name)) : Optional.empty();
  }

  /** The type with a prefix; a sealed type is {@linkplain #current current}. */
  public Optional<Type> withPrefix(Prefix prefix) {
    return find(types -> types.byPrefix().get(prefix.value()));
  }

  /** Whether a type in memory has the prefix; never asks Postgres. */
  public boolean knows(Prefix prefix) {
    return snapshot.byPrefix().containsKey(prefix.value());
  }

  /** Creates the type or changes its mutable fields. */
  public PutOutcome put(TypeDefinition definition, PutConditions conditions, Actor actor) {
    return put(definition.name(), _ -> definition, conditions, actor);
  }

  /**
   * Same, with a definition that is made of the type as it is. The change is acknowledged once it
   * is committed, even if this instance then fails to reload its types: it tries again soon.
   *
   * @param definition runs within the transaction; what it throws ends the call, and nothing was
   *     changed
   */
  public PutOutcome put(
      String name,
      Function<Optional<Type>, TypeDefinition> definition,
      PutConditions conditions,
      Actor actor) {
    byte[] salt = new byte[Salt.BYTES];
    random.fill(salt);
    PutOutcome outcome = store.put(name, definition, new Salt(salt), conditions, actor);
    reload();
    return outcome;
  }

  /**
   * Begins an era of a sealed type: keys of that time and later are sealed with another seal key.
   *
   * @param startsAt empty for as early as possible
   * @return empty if there is no such type
   */
  public Optional<PutOutcome> addEra(
      String name, Optional<Instant> startsAt, String sealKey, Actor actor) {
    Optional<PutOutcome> outcome = eras.add(name, startsAt, sealKey, actor);
    reload();
    return outcome;
  }

  /**
   * Closes an era of a sealed type: from then on its public IDs resolve by their rows alone, and
   * keys without one get stored IDs. Other instances follow within two seconds. It can't be undone.
   *
   * @return empty if there is no such type
   */
  public Optional<PutOutcome> closeEra(String name, String sealKey, Actor actor) {
    Optional<PutOutcome> outcome = eras.close(name, sealKey, actor);
    reload();
    return outcome;
  }

  /**
   * Why a {@link #put} would be refused now; empty if it would be done. Changes nothing.
   *
   * @throws DatabaseUnavailable if Postgres can't be asked
   */
  public Optional<PutOutcome> refusal(
      String name, Function<Optional<Type>, TypeDefinition> definition, PutConditions conditions) {
    Optional<PutOutcome> refusal = store.refusal(name, definition, conditions);
    reload();
    return refusal;
  }

  @Override
  public void close() {
    reloader.shutdownNow();
  }

  private Optional<Type> find(Function<TypeSnapshot, Type> pick) {
    Type known = pick.apply(snapshot);
    if (known != null) {
      return Optional.of(known.sealing().isEmpty() ? known : current(known));
    }
    refreshIfDue();
    return Optional.ofNullable(pick.apply(snapshot));
  }

  /**
   * Concurrent callers share one query. If it fails, they all fail, and the next caller asks again:
   * no type counts as unknown because of an outage.
   */
  private void refreshIfDue() {
    boolean _ =
        asking.call(
            TYPES,
            this::refreshedIfDue,
            earlier ->
                SingleFlight.await(earlier, Deadline.current().leftNanos())
                    .orElseThrow(() -> new DatabaseUnavailable(TYPES)));
  }

  private boolean refreshedIfDue() {
    long now = nanoTime.getAsLong();
    boolean due = now - nextUnknownNanos >= 0;
    if (due) {
      refresh();
      nextUnknownNanos = now + UNKNOWN_PAUSE_NANOS;
    }
    return due;
  }

  /** At most one reload waits. */
  private void reloadSoon() {
    if (!reloader.isShutdown() && reloadDue.compareAndSet(false, true)) {
      reloader.execute(this::reload);
    }
  }

  private void reload() {
    reloadDue.set(false);
    if (!background.run(() -> Deadline.ofAnswer().orEarlier().run(this::refresh))
        && !reloader.isShutdown()) {
      // The types known so far stay valid meanwhile.
      var _ = reloader.schedule(this::reloadSoon, RETRY_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private void refresh() {
    refreshSince(nanoTime.getAsLong());
  }

  /** One load is enough for all who came before it began. */
  private void refreshSince(long nanos) {
    if (!isMine(refreshing)) {
      throw new DatabaseUnavailable(TYPES);
    }
    try {
      if (snapshot.nanos() - nanos <= 0) {
        load();
      }
    } finally {
      refreshing.unlock();
    }
  }

  private static boolean isMine(ReentrantLock lock) {
    try {
      return lock.tryLock(Deadline.current().leftNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private void load() {
    ChangeFeed.Mark mark = feed.mark();
    long nanos = nanoTime.getAsLong();
    TypeStore.Revision revision = store.revision();
    if (revision.equals(snapshot.revision())) {
      snapshot = snapshot.reread(mark, nanos);
      return;
    }
    List<Type> all = store.all();
    snapshot = TypeSnapshot.of(mark, nanos, revision, all);
    observer.observe(new Event.RegistryReloaded(all.size()));
  }
}
