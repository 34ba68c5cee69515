package dev.coatcheck.migrate.run;

import static dev.coatcheck.postgres.sql.schema.Tables.TABLE_MIGRATION;
import static org.jooq.impl.DSL.val;

import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.migrate.source.Throttle;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.table.Checkpoint;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.session.LockWait;
import dev.coatcheck.postgres.sql.Database;
import java.util.Collection;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jooq.Param;

/**
 * Leases of runs: the right to execute a run. A lease lasts for seconds and is renewed while its
 * runner lives. The fence counts the runners of a run; a transaction of an earlier runner is rolled
 * back in the source.
 */
final class LeaseTable {
  private static final String CLAIM =
      """
      update coatcheck.table_migration
         set fence = fence + 1, holder = {0},
             lease_until = clock_timestamp() + {1} * interval '1 millisecond'
       where migration_id = (
         select migration_id from coatcheck.table_migration
          where state = 'running' and source = any({2})
            and (lease_until is null or lease_until < clock_timestamp())
          order by lease_until nulls first limit 1 for no key update skip locked)
      returning migration_id, fence\
      """;

  private static final String RENEW =
      """
      update coatcheck.table_migration
         set lease_until = clock_timestamp() + {2} * interval '1 millisecond',
             worked_millis = worked_millis + {3}, reason = {4}, waits_for = {5}::jsonb,
             rows_done = greatest(rows_done, {6}), times_lost = greatest(times_lost, {7}),
             before_epoch = greatest(before_epoch, {8}),
             rows_set_aside = coalesce({9}, rows_set_aside)
       where migration_id = {0} and fence = {1} and state = 'running'
      returning goal, undo_phase, throttle_settings\
      """;

  /** With the counts and the reason that the row has; samples older than an hour are deleted. */
  private static final String SAMPLE =
      """
      with over as (
        delete from coatcheck.table_migration_load
         where migration_id = {0} and at < clock_timestamp() - interval '1 hour')
      insert into coatcheck.table_migration_load
        (migration_id, at, rows_done, replica_lag_seconds, wal_bytes, reason)
      select migration_id, clock_timestamp(), rows_done, {2}, {3}, reason
        from coatcheck.table_migration where migration_id = {0} and fence = {1}
      on conflict do nothing\
      """;

  private static final String RELEASE =
      """
      update coatcheck.table_migration set lease_until = null
       where migration_id = {0} and fence = {1}\
      """;

  private final Database database;
  private final String holder;

  LeaseTable(Database database, String holder) {
    this.database = database;
    this.holder = holder;
  }

  /** A run that this instance has claimed, and the number of its runner. */
  record Claim(long id, long fence) {}

  /**
   * What a runner has to do.
   *
   * @param undoPhase the first phase that an undo takes back
   */
  record Orders(Goal goal, Optional<Phase> undoPhase, ThrottleSettings throttleSettings) {
    boolean areOf(TableMigration.Status status) {
      return goal == status.goal() && undoPhase.equals(status.undoPhase());
    }
  }

  /** Whether any run is running or has something on its table. */
  boolean isAnyActive() {
    return database.read(
        "table migrations",
        sql ->
            sql.fetchExists(
                TABLE_MIGRATION,
                TABLE_MIGRATION
                    .OCCUPIES
                    .isTrue()
                    .or(TABLE_MIGRATION.STATE.eq(RunState.RUNNING.wireName()))));
  }

  /** Claims a running run of one of the sources that has no live runner. */
  Optional<Claim> claim(Collection<String> sources, int leaseMillis) {
    return database.write(
        "claim table migration",
        sql ->
            sql.resultQuery(
                    CLAIM, val(holder), val(leaseMillis), val(sources.toArray(String[]::new)))
                .fetchOptional(row -> new Claim(row.get(0, Long.class), row.get(1, Long.class))));
  }

  /** Renews the lease; empty if the run was stopped, or if another runner has it. */
  Optional<Orders> renew(
      Claim claim,
      int leaseMillis,
      Optional<Checkpoint.Counts> counts,
      long workedMillis,
      Optional<String> reason,
      Optional<LockWait> wait) {
    return database.write(
        "renew table migration",
        sql ->
            sql.resultQuery(
                    RENEW,
                    val(claim.id()),
                    val(claim.fence()),
                    val(leaseMillis),
                    val(workedMillis),
                    val(wait.map(LockWait::text).or(() -> reason).orElse(null), String.class),
                    val(wait.map(RunRowTable::json).orElse(null), String.class),
                    count(counts, Checkpoint.Counts::done),
                    count(counts, Checkpoint.Counts::timesLost),
                    count(counts, Checkpoint.Counts::beforeEpoch),
                    count(counts, Checkpoint.Counts::setAside))
                .coerce(
                    TABLE_MIGRATION.GOAL,
                    TABLE_MIGRATION.UNDO_PHASE,
                    TABLE_MIGRATION.THROTTLE_SETTINGS)
                .fetchOptional(
                    row ->
                        new Orders(
                            WireNamed.find(Goal.class, row.value1()).orElseThrow(),
                            RunRowTable.undoPhase(row.value2()),
                            RunRowTable.read(row.value3().data(), ThrottleSettings.class))));
  }

  /** Keeps what is known of a backfill and its source now, for an hour. */
  void sample(Claim claim, Throttle.Load load) {
    database.write(
        "table migration load",
        sql ->
            sql.execute(
                SAMPLE,
                val(claim.id()),
                val(claim.fence()),
                number(load.replicaLagSeconds()),
                number(load.walBytes())));
  }

  private static Param<Long> number(OptionalLong number) {
    return val(number.isPresent() ? number.getAsLong() : null, Long.class);
  }

  /** Null as long as nothing was counted. */
  private static Param<Long> count(
      Optional<Checkpoint.Counts> counts, Function<Checkpoint.Counts, Long> which) {
    return val(counts.map(which).orElse(null), Long.class);
  }

  /** Lets another instance claim the run at once. */
  void release(Claim claim) {
    database.write(
        "release table migration",
        sql -> sql.execute(RELEASE, val(claim.id()), val(claim.fence())));
  }
}
