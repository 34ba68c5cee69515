package dev.coatcheck.migrate.backfill;

import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import java.util.function.BooleanSupplier;

/**
 * Copies each row's legacy ID and key to the archive before an undo takes the keys off the table.
 */
public final class Archive {
  private static final int ROWS = 20_000;

  private final ArchiveStore store;

  public Archive(SourceSession session, Target target) {
    this.store = new ArchiveStore(session.session(), target);
  }

  /**
   * Goes through the table once.
   *
   * @param goOn asked before each part
   * @return false if it was stopped
   */
  public boolean run(BooleanSupplier goOn) {
    while (goOn.getAsBoolean()) {
      if (!store.part(ROWS)) {
        return true;
      }
    }
    return false;
  }
}
