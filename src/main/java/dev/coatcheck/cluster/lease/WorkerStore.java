package dev.coatcheck.cluster.lease;

import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jooq.Record;
import org.jooq.Result;
import org.jooq.impl.DSL;

/** Reads the workers that are held or rest. */
final class WorkerStore {
  private static final String HELD_OR_RESTING =
      LeaseStatements.MOMENT
          + """
          select l.layout, l.worker, l.epoch, l.holder, l.expires_at, l.granted_until_ms,
                 greatest(l.granted_until_ms + 1, l.rest_until_ms) as rests_until_ms,
                 l.expires_at > m.at is true as held
            from coatcheck.worker_lease l, moment m
           where %s
           order by l.layout, l.worker
          """
              .formatted(LeaseStatements.IS_TAKEN);

  /** Summed up by holder. */
  private static final String NONE_FREE =
      LeaseStatements.MOMENT
          + """
          select l.holder, l.expires_at > m.at is true as held, count(*) as workers,
                 min(greatest(l.granted_until_ms + 1, l.rest_until_ms,
                              ceil(extract(epoch from l.expires_at) * 1000)::bigint) - m.ms)
                   as free_in_ms
            from coatcheck.worker_lease l, moment m
           where l.layout = {0} and l.worker between {1} and {2} and l.worker <> all ({3})
             and %s
           group by l.holder, held
           order by l.holder nulls first, held
          """
              .formatted(LeaseStatements.IS_TAKEN);

  private WorkerStore() {}

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
                row.get("epoch", Long.class),
                row.get("expires_at", Instant.class),
                Instant.ofEpochMilli(row.get("granted_until_ms", Long.class)))
            : new WorkerState.Standing.Resting(
                holder, Instant.ofEpochMilli(row.get("rests_until_ms", Long.class))));
  }

  /** Says who holds what, so that a reader knows whom to ask, and when the first may be free. */
  static LeaseReply.NoneFree noneFree(DSLContext sql, LeaseSettings settings) {
    Result<Record> groups =
        sql.resultQuery(
                NONE_FREE,
                DSL.val(settings.layout().name()),
                DSL.val(settings.firstWorker()),
                DSL.val(settings.lastWorker()),
                DSL.val(settings.neverLeased()))
            .fetch();
    String holders =
        groups.isEmpty()
            ? "other instances are acquiring them"
            : groups.stream().map(WorkerStore::group).collect(Collectors.joining(", "));
    return new LeaseReply.NoneFree(
        "no worker %d..%d of layout %s is free: %s"
            .formatted(
                settings.firstWorker(), settings.lastWorker(), settings.layout().name(), holders),
        groups.stream().mapToLong(group -> group.get("free_in_ms", Long.class)).min().orElse(0));
  }

  private static String group(Record group) {
    String holder = group.get("holder", String.class);
    String standing = group.get("held", Boolean.class) ? " holds " : " left resting ";
    return (holder == null ? "not yet held, resting " : holder + standing)
        + group.get("workers", Long.class);
  }
}
