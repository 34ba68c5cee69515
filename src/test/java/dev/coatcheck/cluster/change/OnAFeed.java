package dev.coatcheck.cluster.change;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.SmallPool;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** A feed that is polled when a test says so, in a time that the test sets, and a cache on it. */
abstract class OnAFeed {
  static final Duration MINUTE = Duration.ofMinutes(1);
  static final Observer OBSERVER = new Observer();

  static Database database;
  static SmallPool pool;

  final AtomicLong nano = new AtomicLong();

  /** For how long the machine was suspended, which the monotonic clock doesn't count. */
  final AtomicLong suspendedMillis = new AtomicLong();

  ChangeFeed feed;
  TrustedCache<String, String> cache;

  @BeforeAll
  static void open() {
    DatabaseSettings settings = TestDatabase.fresh().settings(8);
    database = Database.open(settings, "test", OBSERVER);
    pool = SmallPool.ofOne(settings, "feed");
  }

  @AfterAll
  static void close() {
    pool.close();
    database.close();
  }

  @BeforeEach
  void start() {
    feed = ChangeFeed.unpolled(pool, OBSERVER, nano::get, this::wallMillis);
    cache = new TrustedCache<>(feed, ChangeKind.ENDING, (key, _) -> List.of(key), 100);
    feed.poll();
  }

  final long wallMillis() {
    return nano.get() / 1_000_000 + suspendedMillis.get();
  }

  final String get(String key, String ifLoaded) {
    return get(key, MINUTE, () -> Optional.of(ifLoaded)).orElseThrow();
  }

  final Optional<String> get(String key, Duration staleMax, Supplier<Optional<String>> load) {
    return cache.get(
        key, staleMax, _ -> load.get().map(value -> Map.of(key, value)).orElseGet(Map::of));
  }

  static void append(String... subjects) {
    database.write(
        "test",
        sql -> {
          ChangeTable.append(sql, ChangeKind.ENDING, List.of(subjects));
          return null;
        });
  }

  static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopped) {
      throw new IllegalStateException(stopped);
    }
  }
}
