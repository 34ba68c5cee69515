package dev.coatcheck.bench.baseline;

import dev.coatcheck.bench.load.LoadResult;
import dev.coatcheck.bench.machine.CpuClock;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import java.time.Duration;

/**
 * What a client could do without a gateway: the same reads from the same table, and the same writes
 * into a table like that of the mappings, which begins with the same rows. By pgbench, or where it
 * is not installed by JDBC.
 */
public final class PostgresBaselines implements AutoCloseable {
  private static final String INSERT =
      "insert into coatcheck.bench_row (key, token, type_id, bucket)"
          + " values (nextval('coatcheck.bench_key'), gen_random_uuid(), 1, <bucket>)";
  private static final String SCRIPT_OF_INSERT =
      "\\set bucket random(0, 1023)\n" + INSERT.replace("<bucket>", ":bucket") + ";\n";
  static final String STATEMENT_OF_INSERT =
      INSERT.replace("<bucket>", "(random() * 1023)::smallint");

  private final BaselineStore store;
  private final CopyLoopStore copies;
  private final Pgbench pgbench;
  private final int rows;

  /** With a number of rows that {@link #fill} will insert. */
  public PostgresBaselines(DatabaseSettings settings, int rows) {
    this.store = new BaselineStore(settings);
    this.copies = new CopyLoopStore(settings);
    this.pgbench = new Pgbench(settings);
    this.rows = rows;
  }

  /** "pgbench", or what stands in for it. */
  public static String name() {
    return hasPgbench() ? "pgbench" : "JDBC";
  }

  /** Whether pgbench is installed. */
  public static boolean hasPgbench() {
    return Pgbench.isInstalled();
  }

  /** Whether any mapping is there; those of a real system must not be measured with. */
  public boolean holdsMappings() {
    return store.holdsMappings();
  }

  /** Inserts the {@link NumberedRows} of a type. */
  public void fill(String type) {
    store.fill(type, rows);
  }

  public CpuClock cpu() {
    return store.cpu();
  }

  /** Clients that read a random row at a time. */
  public LoadResult selects(int clients, Duration time) {
    return hasPgbench()
        ? pgbench.run(NumberedRows.select(rows), clients, time)
        : store.selects(clients, rows, time);
  }

  /**
   * Callers that borrow a connection of a pool for each row that they read, so many rows a second.
   */
  public LoadResult pooledSelects(int callers, int poolSize, Duration time, double perSecond) {
    return store.pooledSelects(callers, poolSize, rows, time, perSecond);
  }

  /** Clients that insert a row a transaction. */
  public LoadResult inserts(int clients, Duration time) {
    return hasPgbench()
        ? pgbench.run(SCRIPT_OF_INSERT, clients, time)
        : store.repeats(STATEMENT_OF_INSERT, clients, time);
  }

  /** A binary COPY over one connection; counts rows. */
  public LoadResult copy(Duration time) {
    return copies.copy(time);
  }

  /** Drops what the baselines have written. */
  @Override
  public void close() {
    store.drop();
  }
}
