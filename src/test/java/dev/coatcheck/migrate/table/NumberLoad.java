package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.run.MigrationFixture;
import java.io.IOException;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.postgresql.PGConnection;

/**
 * Many connections that insert into {@code orders} in every way while their statements time out,
 * are cancelled at random, and the clock of the number source is moved.
 */
final class NumberLoad {
  static final int WRITERS = 12;
  private static final int CLOCK_STEP_MILLIS_MAX = 3_000;
  private static final String CANCELLED = "57014";

  private final MigrationFixture fixture;
  private final long seed;
  private final Set<String> errors = new ConcurrentSkipListSet<>();
  private final List<Integer> backends = new ArrayList<>();
  private volatile boolean stopped;

  NumberLoad(MigrationFixture fixture, long seed) {
    this.fixture = fixture;
    this.seed = seed;
  }

  /** SQLSTATEs that writers met; cancelling is what is done to them. */
  Set<String> errors() {
    return errors;
  }

  /**
   * Runs until it is enough, and then asks while all connections are still open.
   *
   * @return how many advisory locks are held by then
   */
  long run(BooleanSupplier enough) throws SQLException {
    List<Connection> connections = new ArrayList<>();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<CompletableFuture<Void>> running = new ArrayList<>();
      for (int n = 0; n < WRITERS; n++) {
        Connection connection = fixture.connect();
        connections.add(connection);
        backends.add(connection.unwrap(PGConnection.class).getBackendPID());
        Random random = new Random(seed + n);
        boolean isHurried = n % 2 == 0;
        running.add(
            CompletableFuture.runAsync(() -> write(connection, random, isHurried), threads));
      }
      running.add(CompletableFuture.runAsync(() -> disturb(new Random(seed - 1)), threads));
      while (!enough.getAsBoolean()) {
        LockSupport.parkNanos(50_000_000);
      }
      stopped = true;
      running.forEach(CompletableFuture::join);
      return fixture.count(
          "select count(*) from pg_locks where locktype = 'advisory' and database ="
              + " (select oid from pg_database where datname = current_database())");
    } finally {
      stopped = true;
      for (Connection connection : connections) {
        connection.close();
      }
    }
  }

  private void write(Connection connection, Random random, boolean isHurried) {
    try (Statement statement = connection.createStatement()) {
      while (!stopped) {
        int millis = isHurried ? 1 + random.nextInt(20) : 0;
        try {
          statement.execute("set statement_timeout = " + millis);
          insert(connection, statement, random);
        } catch (SQLException refused) {
          if (!CANCELLED.equals(refused.getSQLState())) {
            errors.add(refused.getSQLState() + " " + refused.getMessage());
          }
        }
      }
    } catch (SQLException | IOException broken) {
      errors.add(broken.toString());
    }
  }

  private static void insert(Connection connection, Statement statement, Random random)
      throws SQLException, IOException {
    switch (random.nextInt(4)) {
      case 0 -> statement.execute("insert into orders (text) values ('one')");
      case 1 ->
          statement.execute(
              "insert into orders (text) select 'many' from generate_series(1, "
                  + (2 + random.nextInt(400))
                  + ")");
      case 2 ->
          connection
              .unwrap(PGConnection.class)
              .getCopyAPI()
              .copyIn(
                  "copy orders (text) from stdin",
                  new StringReader("copied\n".repeat(1 + random.nextInt(200))));
      default -> {
        connection.setAutoCommit(false);
        try {
          statement.execute("insert into orders (text) values ('first')");
          statement.execute("insert into orders (text) values ('second')");
          connection.commit();
        } finally {
          connection.rollback();
          connection.setAutoCommit(true);
        }
      }
    }
  }

  /** Cancels the sessions at work, and moves the clock. */
  private void disturb(Random random) {
    try (Connection connection = fixture.connect();
        Statement statement = connection.createStatement()) {
      while (!stopped) {
        int backend = backends.get(random.nextInt(backends.size()));
        String text =
            random.nextInt(4) > 0
                ? "select pg_cancel_backend(" + backend + ")"
                : "select setval('clock_step', "
                    + (random.nextInt(2 * CLOCK_STEP_MILLIS_MAX + 1) - CLOCK_STEP_MILLIS_MAX)
                    + ")";
        try (ResultSet done = statement.executeQuery(text)) {
          done.next();
        }
        LockSupport.parkNanos(2_000_000L + random.nextInt(8_000_000));
      }
    } catch (SQLException broken) {
      errors.add(broken.toString());
    }
  }
}
