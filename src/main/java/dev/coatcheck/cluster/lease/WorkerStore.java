package dev.coatcheck.cluster.lease;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jooq.Record;

/** Reads the workers that are held or rest. */
final class WorkerStore {
  private static final String HELD_OR_RESTING =
      LeaseStatements.MOMENT
          + """
          select l.layout, l.worker, l.epoch, l.holder, l.expires_at, l.granted_until_ms,
                 greatest(l.granted_until_ms + 1, l.rest_until_ms) as rests_until_ms,
                 l.expires_at > m.at as held
            from coatcheck.worker_lease l, moment m
           where l.expires_at > m.at or l.granted_until_ms >= m.ms or l.rest_until_ms > m.ms
           order by l.layout, l.worker
          """;

  private WorkerStore() {}

  static List<WorkerState> list(DSLContext sql) {
    return sql.resultQuery(HELD_OR_RESTING).fetch(WorkerStore::state);
  }

  private static WorkerState state(Record row) {
    String holder = row.get("holder", String.class);
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

  /** Says who holds what, so that whoever reads it knows whom to ask. */
  static String noneFree(DSLContext sql, LeaseSettings settings) {
    Map<String, Long> heldBy =
        list(sql).stream()
            .filter(state -> state.layout().equals(settings.layout().name()))
            .filter(state -> state.worker() >= settings.firstWorker())
            .filter(state -> state.worker() <= settings.lastWorker())
            .collect(Collectors.groupingBy(WorkerStore::who, TreeMap::new, Collectors.counting()));
    String holders =
        heldBy.entrySet().stream()
            .map(entry -> entry.getKey() + " " + entry.getValue())
            .collect(Collectors.joining(", "));
    return "no worker %d..%d of layout %s is free: %s"
        .formatted(
            settings.firstWorker(), settings.lastWorker(), settings.layout().name(), holders);
  }

  private static String who(WorkerState state) {
    return switch (state.standing()) {
      case WorkerState.Standing.Held held -> held.holder() + " holds";
      case WorkerState.Standing.Resting resting -> resting.holder() + " left resting";
    };
  }
}
