package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.table.ErasedRowsTable.ErasedRow;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;
import java.util.UUID;

/** All SQL about what sources still have to delete of erased public IDs. */
final class SourceErasureStore {
  /** For each source, so that one which doesn't answer holds up no other. */
  private static final int TASKS_MAX = 500;

  /**
   * A task is settled if a relay or a look-up that had read an entry before it was deleted has
   * written what it read: their statements take 10 s at most.
   */
  private static final String OPEN =
      """
      select token, type_id, source, key, legacy_ids,
             erased_at < clock_timestamp() - interval '15 seconds'
        from (
          select task.*, erasure.erased_at,
                 row_number() over (partition by task.source order by erasure.erased_at) as nth
            from coatcheck.erasure_task task join coatcheck.erasure using (token, type_id)) as open
       where nth <= ?
       order by erased_at
      """;

  private static final String FINISH =
      """
      with finished as (
        delete from coatcheck.erasure_task task using unnest(?, ?) as done (token, type_id)
         where task.token = done.token and task.type_id = done.type_id and task.source = ?
        returning task.token, task.type_id)
      update coatcheck.erasure set complete_at = greatest(complete_at, clock_timestamp())
        from finished
       where erasure.token = finished.token and erasure.type_id = finished.type_id
      """;

  private final Database gateway;

  SourceErasureStore(Database gateway) {
    this.gateway = gateway;
  }

  /**
   * What a source has to delete.
   *
   * @param isSettled whether it is done once the source has answered
   */
  record Task(UUID token, int typeNumber, String source, ErasedRow row, boolean isSettled) {}

  /** The oldest open tasks of each source. */
  List<Task> open() {
    return gateway.read(
        "erasure tasks",
        sql ->
            PlainSql.rows(
                sql,
                OPEN,
                row ->
                    new Task(
                        row.getObject(1, UUID.class),
                        row.getInt(2),
                        row.getString(3),
                        new ErasedRow(row.getLong(4), List.of((Long[]) row.getArray(5).getArray())),
                        row.getBoolean(6)),
                TASKS_MAX));
  }

  /** Ends the tasks of a source that has answered. */
  void finish(String source, List<Task> tasks) {
    int _ =
        gateway.write(
            "erasure tasks",
            sql ->
                PlainSql.execute(
                    sql,
                    FINISH,
                    tasks.stream().map(Task::token).toArray(UUID[]::new),
                    tasks.stream().map(Task::typeNumber).toArray(Integer[]::new),
                    source));
  }
}
