package dev.coatcheck.cluster.lease;

import dev.coatcheck.postgres.sql.PlainSql;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.jooq.DSLContext;
import org.jooq.Record;

/** Reads the workers that are held or rest. */
final class WorkerStore {
  private static final String HELD_OR_RESTING =
      LeaseStatements.MOMENT
          + """
          select l.layout, l.worker, l.holder, l.expires_at, l.granted_until_ms,
                 greatest(l.granted_until_ms + 1, l.rest_until_ms) as rests_until_ms,
                 l.expires_at > m.at is true as held
            from coatcheck.worker_lease l, moment m
           where %s
           order by l.layout, l.worker
          """
              .formatted(LeaseStatements.IS_TAKEN);

  private WorkerStore() {}

  static OptionalLong windowMillis(DSLContext sql) {
    return PlainSql.first(sql, LeaseStatements.WINDOW, row -> row.getLong(1)).stream()
        .mapToLong(Long::longValue)
        .findFirst();
  }

  static List<WorkerState> list(DSLContext sql) {
    return sql.resultQuery(HELD_OR_RESTING).fetch(WorkerStore::state);
  }

  private static WorkerState state(Record row) {
    String holder = Objects.requireNonNullElse(row.get("holder", String.class), "");
    return new WorkerState(
        row.get("layout", String.class),
        row.get("worker", Integer.class),
        row.get("held", Boolean.class)
            ? new WorkerState.Standing.Held(
                holder,
                row.get("expires_at", Instant.class),
                Instant.ofEpochMilli(row.get("granted_until_ms", Long.class)))
            : new WorkerState.Standing.Resting(
                holder, Instant.ofEpochMilli(row.get("rests_until_ms", Long.class))));
  }
}
