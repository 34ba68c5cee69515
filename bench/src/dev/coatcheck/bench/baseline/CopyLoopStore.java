package dev.coatcheck.bench.baseline;

import dev.coatcheck.bench.load.LoadResult;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.CopyRows;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.postgresql.PGConnection;
import org.postgresql.copy.PGCopyOutputStream;

/** A binary COPY over one connection that lasts as long as it may. */
final class CopyLoopStore {
  private static final String COPY =
      "copy coatcheck.bench_row " + MappingRows.COLUMNS + " from stdin (format binary)";
  private static final int CHUNK_ROWS = 1_000;

  /** Above all keys of the gateway and of the inserts. */
  private static final long FIRST_KEY = 1L << 62;

  private final DatabaseSettings settings;
  private long nextKey = FIRST_KEY;

  CopyLoopStore(DatabaseSettings settings) {
    this.settings = settings;
  }

  /** Counts rows. */
  LoadResult copy(Duration time) {
    long begun = System.nanoTime();
    long end = begun + time.toNanos();
    long rows = 0;
    CopyRows chunk = new CopyRows(CHUNK_ROWS * MappingRows.ROW_BYTES).begin();
    try (Connection connection =
        DriverManager.getConnection(settings.url(), settings.user(), settings.password())) {
      try (PGCopyOutputStream copy =
          new PGCopyOutputStream(connection.unwrap(PGConnection.class), COPY)) {
        do {
          for (int i = 0; i < CHUNK_ROWS; i++) {
            MappingRows.put(chunk, nextKey++, newToken());
          }
          copy.write(chunk.bytes(), 0, chunk.length());
          chunk.clear();
          rows += CHUNK_ROWS;
        } while (System.nanoTime() - end < 0);
        chunk.end();
        copy.write(chunk.bytes(), 0, chunk.length());
      }
      return LoadResult.of(rows, (System.nanoTime() - begun) / 1e9);
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Cheaper than what the gateway draws: the baseline is Postgres, not the random source. */
  private static Token newToken() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return new Token(random.nextLong(), random.nextLong());
  }
}
