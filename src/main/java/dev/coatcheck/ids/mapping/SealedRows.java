package dev.coatcheck.ids.mapping;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.Database;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Knows which sealed public IDs have no row of their ending. Rows of active ones, which were pinned
 * or survived a merge, say what their seal keys say. So nearly every sealed ID is resolved without
 * a question to Postgres: a filter in memory says that its token is in no such row. The filter is
 * read in the background and follows the change feed; it is believed for as long as the feed is.
 * Until it is complete, and after changes were missed, Postgres is asked about every sealed ID.
 */
public final class SealedRows implements AutoCloseable {
  private static final int TOKENS_MIN = 10_000;
  private static final int GROWTH = 4;
  private static final int PAGE = 10_000;
  private static final long RETRY_MILLIS = 500;

  /** So that questions about a type that is new begin one reading, not one each. */
  private static final long NEW_TYPE_MILLIS = 100;

  private static final Duration PAGE_TIME_MAX = Duration.ofSeconds(5);

  private final MappingStore store;
  private final Registry registry;
  private final ChangeFeed feed;
  private final InstantSource clock;
  private final Background background;
  private final AtomicBoolean isDue = new AtomicBoolean();
  private final ScheduledExecutorService reader = Background.timer("sealed-rows");
  private int missed; // guarded by this
  private TokenFilter newest = new TokenFilter(TOKENS_MIN); // guarded by this
  private volatile Known known = new Known(newest, Set.of(), false);

  /**
   * What the filter holds.
   *
   * @param types the numbers of those whose rows it holds all
   * @param isRead false while all rows are read into another filter
   */
  private record Known(TokenFilter filter, Set<Integer> types, boolean isRead) {}

  private SealedRows(
      Database database,
      Registry registry,
      ChangeFeed feed,
      Observer observer,
      InstantSource clock) {
    this.store = new MappingStore(database);
    this.registry = registry;
    this.feed = feed;
    this.clock = clock;
    this.background = new Background("sealed-rows", observer);
  }

  /** Begins to read which rows there are, and follows the changes. */
  public static SealedRows open(
      Database database,
      Registry registry,
      ChangeFeed feed,
      Observer observer,
      InstantSource clock) {
    SealedRows rows = new SealedRows(database, registry, feed, observer, clock);
    feed.onSubjects(ChangeKind.ENDING, rows::heard);
    rows.readSoon(0);
    return rows;
  }

  /** Whether no row ends the sealed ID, as far as all changes are known that are 1.9 s old. */
  public boolean haveNone(TypedToken id) {
    return feed.isTrusted() && haveHadNone(id);
  }

  /**
   * The same during an outage of Postgres, by all changes until {@code staleMax} ago at the latest.
   */
  boolean hadNone(TypedToken id, Duration staleMax) {
    return feed.silent().compareTo(staleMax) <= 0 && haveHadNone(id);
  }

  private boolean haveHadNone(TypedToken id) {
    Known now = known;
    if (!now.types.contains(id.typeNumber())) {
      if (now.isRead) { // if not, a reading is due that covers the type
        readSoon(NEW_TYPE_MILLIS);
      }
      return false;
    }
    return !now.filter.mayHold(id.token());
  }

  /** An ID of this token has ended here; other instances hear of it through the change feed. */
  synchronized void add(Token token) {
    known.filter.add(token);
    newest.add(token);
    if (newest.isFull()) {
      readSoon(0);
    }
  }

  /**
   * The mappings of those subjects that are sealed, as they are unless rows say otherwise; not of
   * keys that were made after the retirement of their type.
   *
   * @throws dev.coatcheck.core.seal.SealKeyMissing if this instance lacks a seal key
   */
  Map<TypedKey, StoredMapping> computed(List<TypedKey> subjects) {
    Map<TypedKey, StoredMapping> sealed = new HashMap<>();
    for (TypedKey subject : subjects) {
      registry
          .numbered(subject.typeNumber())
          .map(registry::current)
          .filter(type -> !type.isRetired() || type.isSealedBeforeRetirement(subject.key()))
          .filter(type -> !isTooFarAhead(type, subject.key()))
          .flatMap(type -> StoredMapping.sealed(type, subject.key()))
          .ifPresent(mapping -> sealed.put(subject, mapping));
    }
    return sealed;
  }

  /** Those subjects that may be pinned: the ones of closed eras. */
  List<TypedKey> ofClosedEras(List<TypedKey> subjects) {
    return subjects.stream()
        .filter(
            subject ->
                registry
                    .numbered(subject.typeNumber())
                    .filter(type -> type.isOfClosedEra(subject.key()))
                    .isPresent())
        .toList();
  }

  /** An era that begins before the time of such a key would give it another public ID. */
  private boolean isTooFarAhead(Type type, Key key) {
    return type.sealingOf(key)
        .filter(sealing -> sealing.isTooFarAhead(((Key.Bigint) key).value(), clock.instant()))
        .isPresent();
  }

  /** Runs on the thread of the feed. */
  private void heard(Optional<List<String>> subjects) {
    if (subjects.isEmpty()) {
      miss();
      readSoon(0);
      return;
    }
    for (String subject : subjects.get()) {
      TypedToken.parse(subject).filter(this::maybeSealed).ifPresent(id -> add(id.token()));
    }
  }

  /** A type that is unknown yet may be sealed. */
  private boolean maybeSealed(TypedToken id) {
    return registry.numbered(id.typeNumber()).map(type -> type.sealing().isPresent()).orElse(true);
  }

  private void readSoon(long millis) {
    if (!reader.isShutdown() && isDue.compareAndSet(false, true)) {
      var _ = reader.schedule(this::readOrRetry, millis, TimeUnit.MILLISECONDS);
    }
  }

  private void readOrRetry() {
    if (!background.run(() -> read(TOKENS_MIN))) {
      readSoon(RETRY_MILLIS);
    }
  }

  private synchronized void miss() {
    known = new Known(known.filter, Set.of(), false);
    missed++;
  }

  /** Under the lock of {@link #add}, so that a full filter never makes a second reading due. */
  private synchronized int begin(TokenFilter filter) {
    isDue.set(false);
    known = new Known(known.filter, known.types, false);
    newest = filter;
    return missed;
  }

  /** Changes that were missed may be of rows that were read already: then all are read again. */
  private synchronized void end(Known read, int missedBefore) {
    if (missed == missedBefore) {
      known = read;
    }
  }

  /**
   * Reads all rows into a filter that the feed adds to meanwhile: what is committed before its rows
   * are read is among them, and what is committed later comes with the feed.
   */
  private void read(int tokensMax) {
    TokenFilter filter = new TokenFilter(tokensMax);
    int missedBefore = begin(filter);
    Set<Integer> types = new HashSet<>();
    for (Type type : registry.all()) {
      if (type.sealing().isPresent()) {
        type.sealing().get().spans().forEach(span -> read(type, span, filter));
        types.add(type.number());
      }
      if (filter.isFull()) {
        read(Math.multiplyExact(tokensMax, GROWTH));
        return;
      }
    }
    end(new Known(filter, Set.copyOf(types), true), missedBefore);
  }

  private void read(Type type, Sealing.Span span, TokenFilter into) {
    List<StoredMapping> page = List.of();
    do {
      Optional<StoredMapping> last =
          page.isEmpty() ? Optional.empty() : Optional.of(page.getLast());
      page =
          Deadline.after(PAGE_TIME_MAX)
              .call(() -> store.sealedRows(type, span, last.map(StoredMapping::key), PAGE));
      page.forEach(row -> into.add(row.token()));
    } while (page.size() == PAGE && !into.isFull());
  }

  @Override
  public void close() {
    reader.shutdownNow();
  }
}
