package dev.coatcheck.cluster.lease;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.MachineDelay;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The simulation stands on {@link SimulatedRows} doing what the SQL does. */
class SimulatedRowsTest {
  private static final int WORKERS = 3;
  private static final SimulatedRows.Life RESTORED = new SimulatedRows.Life(2, 1);

  private final LeaseDatabase database = LeaseDatabase.fresh();
  private final LeaseSettings settings =
      new LeaseSettings(SnowflakeLayout.DEFAULT, 0, WORKERS - 1, "a", 3_000);
  private final long timeline =
      database.number(
          "select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint");
  private final long system = database.number("select system_identifier from pg_control_system()");

  @Test
  void simulatedRowsDoWhatTheSqlDoes() {
    long seed = Long.getLong("simulation.seed", System.nanoTime());
    Random random = new Random(seed);
    try (MachineDelay delay = MachineDelay.measure();
        HikariDataSource pool = database.pool()) {
      WorkerLeaseStore store = new WorkerLeaseStore(pool, settings);
      for (int i = 0; i < 200; i++) {
        compare(random, store, delay, "simulation.seed=" + seed + " round " + i);
      }
    }
  }

  private void compare(Random random, WorkerLeaseStore store, MachineDelay delay, String round) {
    long base = now();
    SimulatedRows.Life life = random.nextBoolean() ? SimulatedRows.Life.FIRST : RESTORED;
    SimulatedRows rows = new SimulatedRows(settings, Defect.NONE, life);
    LeaseDatabase.fresh();
    if (life.equals(RESTORED)) {
      database.execute("update coatcheck.worker_lease_origin set system_identifier = 0");
    }
    for (int worker = 0; worker < WORKERS; worker++) {
      if (random.nextInt(4) > 0) {
        SimulatedRows.Row row = row(random, base, life);
        rows.set(worker, row);
        insert(worker, row, life);
      }
    }
    LeaseRequest request = request(random, base);
    LeaseReply reply = store.send(request);
    if (reply instanceof LeaseReply.Failed) {
      delay.requireTimely();
    }
    long now =
        switch (reply) {
          case LeaseReply.Acquired acquired -> acquired.nowMillis();
          case LeaseReply.Renewed renewed -> renewed.nowMillis();
          default -> now();
        };
    assertThat(expected(rows, request, reply, now)).as(round).isEqualTo(reply);
    for (int worker = 0; worker < WORKERS; worker++) {
      String what = round + " worker " + worker;
      boolean registered =
          database.number("select count(*) from coatcheck.worker_lease where worker = " + worker)
              > 0;
      assertThat(registered).as(what).isEqualTo(rows.isRegistered(worker));
      if (registered) {
        same(rows.row(worker), life, worker, what);
      }
    }
  }

  private static LeaseReply expected(
      SimulatedRows rows, LeaseRequest request, LeaseReply reply, long now) {
    if (!(request instanceof LeaseRequest.Acquire)) {
      return rows.execute(request, now, new Random());
    }
    List<Integer> free = rows.free(now);
    if (free.isEmpty() && rows.register(now)) {
      free = rows.free(now);
    }
    if (reply instanceof LeaseReply.Acquired acquired && free.contains(acquired.worker())) {
      return rows.acquire(acquired.worker(), now);
    }
    return free.isEmpty()
            && reply instanceof LeaseReply.NoneFree(String _, long freeInMillis)
            && Math.abs(freeInMillis - rows.noneFree(now).freeInMillis()) < 2_000
        ? reply
        : new LeaseReply.Failed("free were " + free + ", if none: " + rows.noneFree(now));
  }

  /** All times lie well away from now, which moves on while a round runs. */
  private static SimulatedRows.Row row(Random random, long base, SimulatedRows.Life life) {
    return new SimulatedRows.Row(
        random.nextInt(3),
        base + (random.nextInt(3) == 0 ? 20_000 : -20_000),
        base + (random.nextInt(4) == 0 ? 30_000 : -30_000),
        base + (random.nextInt(3) == 0 ? 10_000 : -10_000),
        switch (random.nextInt(4)) {
          case 0 -> new SimulatedRows.Life(life.system(), life.timeline() - 1);
          case 1 -> new SimulatedRows.Life(life.system() + 1, life.timeline());
          default -> life;
        });
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

  private void insert(int worker, SimulatedRows.Row row, SimulatedRows.Life life) {
    database.execute(
        "insert into coatcheck.worker_lease (layout, worker, holder, epoch, granted_until_ms,"
            + " rest_until_ms, expires_at, timeline, system_identifier)"
            + " values ('default', %d, 'earlier', %d, %d, %d,"
                .formatted(worker, row.epoch(), row.grantedUntil(), row.restUntil())
            + " to_timestamp(%d / 1000.0), %d, %d)"
                .formatted(
                    row.expires(),
                    timeline + row.life().timeline() - life.timeline(),
                    system + row.life().system() - life.system()));
  }

  private void same(SimulatedRows.Row row, SimulatedRows.Life life, int worker, String what) {
    String where = " from coatcheck.worker_lease where worker = " + worker;
    assertThat(database.number("select epoch" + where)).as(what).isEqualTo(row.epoch());
    assertThat(database.number("select coalesce(granted_until_ms, 0)" + where))
        .as(what)
        .isEqualTo(row.grantedUntil());
    assertThat(database.number("select timeline" + where) - timeline)
        .as(what)
        .isEqualTo(row.life().timeline() - life.timeline());
    assertThat(database.number("select system_identifier" + where) - system)
        .as(what)
        .isEqualTo(row.life().system() - life.system());
    near(
        database.number("select coalesce(rest_until_ms, 0)" + where),
        row.restUntil(),
        what + " rest");
    near(
        database.number("select coalesce(floor(extract(epoch from expires_at) * 1000), 0)" + where),
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
