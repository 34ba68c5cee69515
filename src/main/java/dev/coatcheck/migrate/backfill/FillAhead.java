package dev.coatcheck.migrate.backfill;

import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.Database;
import java.util.OptionalLong;

/**
 * Fills one row on demand: finds the key of the row whose legacy ID a caller asks for. A row that
 * the backfill has not reached gets its key on the spot: the position that it could have at most,
 * which is known without the rows before it. Those rows keep the positions below.
 */
public final class FillAhead {
  private final FillAheadStore store;

  public FillAhead(Database source, Target target) {
    this.store = new FillAheadStore(source, target);
  }

  /**
   * The key of a row; empty if there is no such row.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the source can't be asked, or if the
   *     row's key can't be made within a second
   */
  public OptionalLong find(long legacy) {
    return store.find(legacy);
  }
}
