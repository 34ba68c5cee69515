package dev.coatcheck.migrate.film;

import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.migrate.plan.Precondition;
import dev.coatcheck.migrate.run.Writers;
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
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * Workers that serve a film rental's customers through one pool of connections, each request with
 * the statements of another framework. What a plan named is sent again, as the frameworks do or ask
 * for; any other error is kept.
 */
final class WebApplication implements AutoCloseable {
  private static final int TRIES_MAX = 20;

  private final Writers writers = new Writers();

  /** Errors that plan didn't name. */
  final Queue<String> errors = writers.errors;

  private final Map<String, AtomicLong> operations = new ConcurrentSkipListMap<>();
  private final Map<String, AtomicLong> named = new ConcurrentSkipListMap<>();
  private final Set<String> accepted = ConcurrentHashMap.newKeySet();
  private final HikariDataSource pool;
  private final int discs;

  private WebApplication(FilmRental rental) {
    this.pool = rental.pool();
    this.discs = Math.toIntExact(rental.source.count("select count(*) from disc"));
  }

  static WebApplication start(FilmRental rental, FilmLedger ledger, int workers, long seed) {
    WebApplication application = new WebApplication(rental);
    List<FilmLedger.Share> shares = new ArrayList<>();
    List<Random> randoms = new ArrayList<>();
    // All shares are dealt before any server makes a row, which is its own.
    for (int i = 0; i < workers; i++) {
      randoms.add(new Random(seed + i));
      shares.add(ledger.share(i, workers, randoms.get(i)));
    }
    for (int i = 0; i < workers; i++) {
      application.start("w" + i, shares.get(i), randoms.get(i));
    }
    return application;
  }

  /** What a plan says that the application has to meet; from now on such errors are named. */
  void accept(Collection<Precondition> preconditions) {
    preconditions.forEach(one -> accepted.add(one.code()));
  }

  long operations() {
    return operations.values().stream().mapToLong(AtomicLong::get).sum();
  }

  /** Kinds that went through at least once. */
  Set<String> kinds() {
    return new HashSet<>(operations.keySet());
  }

  private void start(String name, FilmLedger.Share share, Random random) {
    AtomicLong sent = new AtomicLong();
    writers.start(
        () -> {
          WebKind kind = WebStatements.KINDS.get(random.nextInt(WebStatements.KINDS.size()));
          String note = name + "-" + sent.getAndIncrement();
          writers.operate(() -> serve(kind, note, share, random));
        });
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

  void stop() {
    writers.stop();
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
            writers.longestMillis());
  }

  @Override
  public void close() {
    stop();
    pool.close();
  }
}
