package dev.coatcheck.cluster.lease;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The simulation stands on {@link SimulatedRows} doing what the SQL does. */
class SimulatedRowsTest {
  private static final int WORKERS = 3;
  private static final long STALE = 0;
  private static final long CURRENT = 1;

  private final LeaseDatabase database = LeaseDatabase.fresh();
  private final LeaseSettings settings =
      new LeaseSettings(SnowflakeLayout.DEFAULT, 0, WORKERS - 1, "a", 3_000);
  private final long timeline =
      database.number(
          "select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint");

  @Test
  void simulatedRowsDoWhatTheSqlDoes() {
    long seed = Long.getLong("simulation.seed", System.nanoTime());
    Random random = new Random(seed);
    try (HikariDataSource pool = database.pool()) {
      WorkerLeaseStore store = new WorkerLeaseStore(pool, settings);
      for (int i = 0; i < 200; i++) {
        compare(random, store, "simulation.seed=" + seed + " round " + i);
      }
    }
  }

  private void compare(Random random, WorkerLeaseStore store, String round) {
    long base = now();
    SimulatedRows rows = new SimulatedRows(settings, Defect.NONE);
    database.execute("truncate coatcheck.worker_lease");
    for (int worker = 0; worker < WORKERS; worker++) {
      SimulatedRows.Row row = row(random, base);
      rows.set(worker, row);
      insert(worker, row);
    }
    LeaseRequest request = request(random, base);
    LeaseReply reply = store.send(request);
    long now =
        switch (reply) {
          case LeaseReply.Acquired acquired -> acquired.nowMillis();
          case LeaseReply.Renewed renewed -> renewed.nowMillis();
          default -> now();
        };
    assertThat(expected(rows, request, reply, now)).as(round).isEqualTo(reply);
    for (int worker = 0; worker < WORKERS; worker++) {
      same(rows.row(worker), worker, round + " worker " + worker);
    }
  }

  private static LeaseReply expected(
      SimulatedRows rows, LeaseRequest request, LeaseReply reply, long now) {
    if (!(request instanceof LeaseRequest.Acquire)) {
      return rows.execute(request, now, new Random());
    }
    List<Integer> free = rows.free(now);
    if (reply instanceof LeaseReply.Acquired acquired && free.contains(acquired.worker())) {
      return rows.acquire(acquired.worker(), now);
    }
    return free.isEmpty() && reply instanceof LeaseReply.NoneFree
        ? reply
        : new LeaseReply.Failed("free were " + free);
  }

  /** All times lie well away from now, which moves on while a round runs. */
  private static SimulatedRows.Row row(Random random, long base) {
    return new SimulatedRows.Row(
        random.nextInt(3),
        base + (random.nextInt(3) == 0 ? 20_000 : -20_000),
        base + (random.nextInt(4) == 0 ? 30_000 : -30_000),
        base + (random.nextInt(3) == 0 ? 10_000 : -10_000),
        random.nextInt(3) == 0 ? STALE : CURRENT);
  }

  private static LeaseRequest request(Random random, long base) {
    int worker = random.nextInt(WORKERS);
    return switch (random.nextInt(4)) {
      case 0 -> new LeaseRequest.Release(worker, random.nextInt(3));
      case 1 -> new LeaseRequest.Acquire();
      default ->
          new LeaseRequest.Renew(
              worker, random.nextInt(3), base + random.nextInt(3) * 20_000L - 20_000);
    };
  }

  private void insert(int worker, SimulatedRows.Row row) {
    database.execute(
        "insert into coatcheck.worker_lease (layout, worker, epoch, granted_until_ms,"
            + " rest_until_ms, expires_at, timeline) values ('default', %d, %d, %d, %d,"
                .formatted(worker, row.epoch(), row.grantedUntil(), row.restUntil())
            + " to_timestamp(%d / 1000.0), %d)"
                .formatted(row.expires(), timeline - (row.timeline() == STALE ? 1 : 0)));
  }

  private void same(SimulatedRows.Row row, int worker, String what) {
    String where = " from coatcheck.worker_lease where worker = " + worker;
    assertThat(database.number("select epoch" + where)).as(what).isEqualTo(row.epoch());
    assertThat(database.number("select granted_until_ms" + where))
        .as(what)
        .isEqualTo(row.grantedUntil());
    assertThat(database.number("select timeline" + where) == timeline)
        .as(what)
        .isEqualTo(row.timeline() == CURRENT);
    near(database.number("select rest_until_ms" + where), row.restUntil(), what + " rest");
    near(
        database.number("select floor(extract(epoch from expires_at) * 1000)" + where),
        row.expires(),
        what + " expires");
  }

  /** Where a reply does not say when it was, the two clocks differ by the time between. */
  private static void near(long actual, long expected, String what) {
    assertThat(actual).as(what).isBetween(expected - 2_000, expected + 2_000);
  }

  private long now() {
    return database.number("select floor(extract(epoch from clock_timestamp()) * 1000)");
  }
}
