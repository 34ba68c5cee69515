package dev.coatcheck.cluster.instance;

import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.schema.Tables;
import java.time.Duration;
import java.util.List;
import org.jooq.DSLContext;

/** All SQL about the gateways on one database. */
final class InstanceStore {
  private static final int GONE_MINUTES = 5;

  private static final String TELL =
      """
      with gone as (
        delete from coatcheck.instance
         where holder in (
           select holder from coatcheck.instance
            where seen_at < now() - make_interval(mins => %d)
              for update skip locked)
      )
      insert into coatcheck.instance as mine
        (holder, version, address, started_at, seen_at, feed_silent_ms)
      values (?, ?, ?, cast(? as timestamptz), now(), ?)
      on conflict (holder) do update
        set version = excluded.version, address = excluded.address,
            started_at = excluded.started_at, seen_at = excluded.seen_at,
            feed_silent_ms = excluded.feed_silent_ms
      """
          .formatted(GONE_MINUTES);

  private static final String ALL =
      """
      select holder, version, address, started_at,
             greatest(0, extract(epoch from now() - seen_at) * 1000)::bigint, feed_silent_ms
        from coatcheck.instance
       where seen_at >= now() - make_interval(mins => %d)
       order by holder
      """
          .formatted(GONE_MINUTES);

  private final Database database;

  InstanceStore(Database database) {
    this.database = database;
  }

  /** Writes the row of an instance, and deletes those of instances that are gone. */
  void tell(Instance.Self self, Duration feedSilent) {
    database.write(
        "instance",
        sql ->
            PlainSql.execute(
                sql,
                TELL,
                self.holder(),
                self.version(),
                self.address(),
                self.startedAt().toString(),
                feedSilent.toMillis()));
  }

  /** Returns how many rows that were. */
  int forget(String holder) {
    return database.write(
        "instance",
        sql -> sql.deleteFrom(Tables.INSTANCE).where(Tables.INSTANCE.HOLDER.eq(holder)).execute());
  }

  List<Instance> all() {
    return database.read("instances", InstanceStore::all);
  }

  private static List<Instance> all(DSLContext sql) {
    return PlainSql.rows(
        sql,
        ALL,
        row ->
            new Instance(
                row.getString(1),
                row.getString(2),
                row.getString(3),
                PlainSql.instant(row, 4),
                Duration.ofMillis(row.getLong(5)),
                Duration.ofMillis(row.getLong(6))));
  }
}
