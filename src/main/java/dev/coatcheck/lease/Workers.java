package dev.coatcheck.lease;

import java.util.List;
import javax.sql.DataSource;

/** Lists who holds which worker, and which workers rest. */
public final class Workers {
  private final WorkerStore store;

  public Workers(DataSource pool) {
    this.store = new WorkerStore(pool);
  }

  /** Every worker that is not free, by layout and number. */
  public List<WorkerState> list() {
    return store.list();
  }
}
