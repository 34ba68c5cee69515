package dev.coatcheck.cluster.lease;

import dev.coatcheck.postgres.sql.Database;
import java.util.List;

/** Lists who holds which worker, and which workers rest. */
public final class Workers {
  private final Database database;

  public Workers(Database database) {
    this.database = database;
  }

  /** Every worker that is not free, by layout and number. */
  public List<WorkerState> list() {
    return database.read("workers", WorkerStore::list);
  }
}
