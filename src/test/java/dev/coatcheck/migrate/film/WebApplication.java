package dev.coatcheck.migrate.film;

import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.migrate.application.Precondition;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Workers that serve a film rental's customers through one pool of connections, each request with
 * the statements of another framework. What a plan named is sent again, as the frameworks do or ask
 * for; any other error is kept.
 */
final class WebApplication implements AutoCloseable {
  static final List<WebKind> KINDS =
      Stream.of(
              HibernateStatements.KINDS,
              RailsStatements.KINDS,
              PrismaStatements.KINDS,
              KnexStatements.KINDS)
          .flatMap(List::stream)
          .toList();

  private static final int TRIES_MAX = 20;

  /** INSERT has more expressions than target columns. */
  private static final String MORE_COLUMNS = "42601";

  /** Errors that plan didn't name. */
  final Queue<String> errors = new ConcurrentLinkedQueue<>();

  private final Map<String, AtomicLong> operations = new ConcurrentSkipListMap<>();
  private final Map<String, AtomicLong> named = new ConcurrentSkipListMap<>();
  private final AtomicLong longestNanos = new AtomicLong();
  private final Set<String> accepted = ConcurrentHashMap.newKeySet();
  private final HikariDataSource pool;
  private final int discs;
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopped;

  private WebApplication(FilmRental rental) {
    this.pool = rental.pool();
    this.discs = Math.toIntExact(rental.source.count("select count(*) from disc"));
  }

  static WebApplication start(FilmRental rental, FilmLedger ledger, int workers, long seed) {
    WebApplication application = new WebApplication(rental);
    List<Runnable> servers = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      Random random = new Random(seed + i);
      // All shares are dealt before any server makes a row, which is its own.
      FilmLedger.Share share = ledger.share(i, workers, random);
      String name = "w" + i;
      servers.add(() -> application.serve(name, share, random));
    }
    servers.forEach(server -> application.threads.add(Thread.ofPlatform().start(server)));
    return application;
  }

  /** What a plan says that the application has to meet; from now on such errors are named. */
  void accept(Collection<Precondition> preconditions) {
    preconditions.forEach(one -> accepted.add(one.code()));
  }

  long operations() {
    return operations.values().stream().mapToLong(AtomicLong::get).sum();
  }

  long operations(String kind) {
    return operations.getOrDefault(kind, new AtomicLong()).get();
  }

  /** Errors that plan named by this code. */
  long named(String code) {
    return named.entrySet().stream()
        .filter(one -> one.getKey().startsWith(code + " "))
        .mapToLong(one -> one.getValue().get())
        .sum();
  }

  /** Kinds that went through at least once. */
  Set<String> kinds() {
    return new HashSet<>(operations.keySet());
  }

  private void serve(String name, FilmLedger.Share share, Random random) {
    try {
      for (long n = 0; !stopped; n++) {
        WebKind kind = KINDS.get(random.nextInt(KINDS.size()));
        long began = System.nanoTime();
        serve(kind, name + "-" + n, share, random);
        longestNanos.accumulateAndGet(System.nanoTime() - began, Math::max);
      }
    } catch (Exception broken) {
      errors.add(broken.toString());
    }
  }

  private void serve(WebKind kind, String note, FilmLedger.Share share, Random random)
      throws SQLException, IOException {
    for (int tried = 1; tried <= TRIES_MAX; tried++) {
      Connection connection = pool.getConnection();
      try (connection) {
        kind.serve(new WebCall(connection, share, random, note + "." + tried, discs));
        count(operations, kind.name());
        return;
      } catch (SQLException refused) {
        if (failsForGood(refused)) {
          return;
        }
        if (!isToBeSentAgain(kind, refused)) {
          errors.add(kind.name() + ": " + refused.getSQLState() + " " + refused.getMessage());
          return;
        }
        // What is prepared on it may be of no use any more.
        pool.evictConnection(connection);
      }
    }
    errors.add(kind.name() + ": " + TRIES_MAX + " tries");
  }

  /** As plan said: there is no use in sending it again. */
  private boolean failsForGood(SQLException refused) {
    if (!MORE_COLUMNS.equals(refused.getSQLState()) || !accepted.contains("row_shape")) {
      return false;
    }
    count(named, "row_shape " + MORE_COLUMNS);
    return true;
  }

  private boolean isToBeSentAgain(WebKind kind, SQLException refused) {
    String state = String.valueOf(refused.getSQLState());
    String code = kind.named().get(state);
    if (code != null && accepted.contains(code)) {
      count(named, code + " " + state);
      return true;
    }
    if (kind.isOfItsOwn(state)) {
      count(named, state);
      return true;
    }
    return false;
  }

  private static void count(Map<String, AtomicLong> counts, String name) {
    counts.computeIfAbsent(name, _ -> new AtomicLong()).incrementAndGet();
  }

  /** Returns when the last request is answered. */
  void stop() {
    stopped = true;
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException hurried) {
        Thread.currentThread().interrupt();
      }
    }
  }

  String figures() {
    return "%d operations of %d kinds, errors of its own and by what plan named: %s; %d errors that plan didn't name, the longest took %d ms"
        .formatted(
            operations(),
            operations.size(),
            named.isEmpty()
                ? "none"
                : named.entrySet().stream()
                    .map(one -> one.getValue() + " " + one.getKey())
                    .collect(Collectors.joining(", ")),
            errors.size(),
            longestNanos.get() / 1_000_000);
  }

  @Override
  public void close() {
    stop();
    pool.close();
  }
}
