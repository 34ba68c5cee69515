package dev.coatcheck.postgres.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Asks Postgres whether it answers, on a connection that nothing else uses: a pool that is full
 * says nothing about Postgres. However many ask, Postgres is asked twice a second at most.
 */
public final class HealthConnection implements AutoCloseable {
  private static final long FRESH_NANOS = 500_000_000;
  private static final int ANSWER_MILLIS_MAX = 800;

  private final SmallPool pool;
  private final LongSupplier nanoTime;
  private final ReentrantLock lock = new ReentrantLock();
  private boolean asked;
  private boolean answered;
  private long askedNano;

  private HealthConnection(SmallPool pool, LongSupplier nanoTime) {
    this.pool = pool;
    this.nanoTime = nanoTime;
  }

  /** Connects at the first question. */
  public static HealthConnection open(DatabaseSettings settings, LongSupplier nanoTime) {
    return new HealthConnection(SmallPool.ofOne(settings, "health"), nanoTime);
  }

  /** Whether Postgres answers now, or did within the last half second. */
  public boolean isAnswered() {
    lock.lock();
    try {
      if (!asked || nanoTime.getAsLong() - askedNano >= FRESH_NANOS) {
        answered = ask();
        asked = true;
        askedNano = nanoTime.getAsLong();
      }
      return answered;
    } finally {
      lock.unlock();
    }
  }

  private boolean ask() {
    try (Connection connection = pool.getConnection()) {
      connection.setNetworkTimeout(Runnable::run, ANSWER_MILLIS_MAX);
      try (Statement statement = connection.createStatement()) {
        return statement.execute("select 1");
      }
    } catch (SQLException noAnswer) {
      return false;
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
