package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.run.MigrationFixture;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/** An application that inserts into {@code orders}, deletes and brings rows back, all the time. */
public final class TableWriters implements AutoCloseable {
  private static final int THREADS = 3;

  private final MigrationFixture fixture;
  private final int firstId;
  private final int lastId;
  private final List<CompletableFuture<Void>> threads;
  private final AtomicLong writes = new AtomicLong();
  private volatile boolean stopped;

  /** Deletes only rows with those IDs. */
  public TableWriters(MigrationFixture fixture, int firstId, int lastId, long seed) {
    this.fixture = fixture;
    this.firstId = firstId;
    this.lastId = lastId;
    this.threads =
        IntStream.range(0, THREADS)
            .mapToObj(
                n ->
                    CompletableFuture.runAsync(
                        () -> write(new Random(seed + n)), Thread::startVirtualThread))
            .toList();
  }

  public long writes() {
    return writes.get();
  }

  private void write(Random random) {
    try (Connection connection = fixture.connect()) {
      while (!stopped) {
        int id = firstId + random.nextInt(lastId - firstId + 1);
        switch (random.nextInt(5)) {
          case 0 -> send(connection, "insert into orders (text) values ('one')");
          case 1 ->
              send(connection, "insert into orders (text) select 'n' from generate_series(1, 5)");
          case 2 -> send(connection, "delete from orders where id = " + id);
          case 3 ->
              send(
                  connection,
                  "insert into orders (id, text) values ("
                      + id
                      + ", 'back')"
                      + " on conflict (id) do update set text = excluded.text");
          default -> {
            connection.setAutoCommit(false);
            send(connection, "delete from orders where id = " + id);
            send(
                connection,
                "insert into orders (id, text) values ("
                    + id
                    + ", 'at once') on conflict do nothing");
            connection.commit();
            connection.setAutoCommit(true);
          }
        }
        writes.incrementAndGet();
      }
    } catch (SQLException failed) {
      throw new AssertionError(failed);
    }
  }

  private static void send(Connection connection, String text) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(text)) {
      statement.execute();
    }
  }

  /** Throws what a writer ran into. */
  @Override
  public void close() {
    stopped = true;
    threads.forEach(CompletableFuture::join);
  }
}
