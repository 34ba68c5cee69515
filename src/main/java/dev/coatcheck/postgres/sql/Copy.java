package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.connection.BrokenOff;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyManager;
import org.postgresql.copy.CopyOut;

/**
 * COPY, inside a transaction. A COPY that is broken off is never cancelled in the way of the
 * driver: {@code cancelCopy} of a COPY to us returns while its rows still come, and the next
 * statement on the connection gets them for an answer. The connection is closed instead.
 */
public final class Copy {
  private static final int SLICE_BYTES = 64 * 1024;

  private Copy() {}

  /** Takes rows as they come. */
  public interface Reader {
    /**
     * Takes one row, with the end of its line.
     *
     * @throws IOException if no more rows are wanted
     */
    void read(byte[] row) throws IOException;
  }

  private interface Work {
    void on(Connection connection, CopyManager copies) throws SQLException, IOException;
  }

  public static void in(DSLContext sql, String statement, byte[] rows, int length) {
    run(
        sql,
        (_, copies) -> {
          CopyIn copy = copies.copyIn(statement);
          for (int at = 0; at < length; at += SLICE_BYTES) {
            copy.writeToCopy(rows, at, Math.min(SLICE_BYTES, length - at));
          }
          copy.endCopy();
        });
  }

  /**
   * Hands the rows of Postgres on, as fast as they are taken. Afterwards the connection has another
   * time-out of its socket.
   *
   * @param firstRowMax how long Postgres may sort before it sends anything
   * @param nextRowMax how long it may be silent after that
   * @throws UncheckedIOException with what the reader threw; the connection is closed then
   */
  public static void out(
      DSLContext sql, String statement, Duration firstRowMax, Duration nextRowMax, Reader reader) {
    run(
        sql,
        (connection, copies) -> {
          connection.setNetworkTimeout(Runnable::run, (int) firstRowMax.toMillis());
          CopyOut copy = copies.copyOut(statement);
          byte[] row = copy.readFromCopy();
          connection.setNetworkTimeout(Runnable::run, (int) nextRowMax.toMillis());
          for (; row != null; row = copy.readFromCopy()) {
            reader.read(row);
          }
        });
  }

  private static void run(DSLContext sql, Work work) {
    sql.connection(
        connection -> {
          try {
            work.on(connection, connection.unwrap(PGConnection.class).getCopyAPI());
          } catch (IOException stopped) {
            BrokenOff.close(connection);
            throw new UncheckedIOException(stopped);
          } catch (SQLException failed) {
            BrokenOff.closeUnlessAnswered(connection, failed);
            throw new DataAccessException("COPY: " + failed.getMessage(), failed);
          } catch (RuntimeException | Error thrown) {
            BrokenOff.close(connection);
            throw thrown;
          }
        });
  }
}
