package dev.coatcheck.cluster.lease;

import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.OptionalLong;

/** Lists who holds which worker, and which workers rest. */
public final class Workers {
  private final Database database;

  public Workers(Database database) {
    this.database = database;
  }

  /** The window of all leases in this database, in milliseconds; empty before the first lease. */
  public OptionalLong windowMillis() {
    return database.read("lease window", WorkerStore::windowMillis);
  }

  /** Every worker that is not free, by layout and number. */
  public List<WorkerState> list() {
    return database.read("workers", WorkerStore::list);
  }
}
