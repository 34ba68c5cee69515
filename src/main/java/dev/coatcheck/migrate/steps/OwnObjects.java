package dev.coatcheck.migrate.steps;

import dev.coatcheck.migrate.source.ObjectsGone;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import java.util.List;

/**
 * The objects that the first two steps of a run made in the source: says which of them are missing,
 * and puts empty objects in their stead for an undo.
 */
public final class OwnObjects {
  private final OwnObjectsStore store;

  public OwnObjects(SourceSession session, Target target) {
    this.store = new OwnObjectsStore(session.session(), target);
  }

  /** How far the run has come: which of its objects have to be there. */
  public enum Extent {
    /** Nothing was made yet. */
    NONE,
    /** What is not on the table itself. */
    PREPARED,
    /** The column, the triggers and the checkpoint too. */
    ON_TABLE
  }

  /**
   * Looks for all of them.
   *
   * @throws ObjectsGone with the names of those that are not there
   */
  public void require(Extent extent) {
    List<String> missing = missing(extent);
    if (!missing.isEmpty()) {
      throw new ObjectsGone(missing);
    }
  }

  /** In words. */
  public List<String> missing(Extent extent) {
    return extent == Extent.NONE ? List.of() : store.missing(extent == Extent.ON_TABLE);
  }

  /** Whether the customer's table itself is there. */
  public boolean hasTable() {
    return store.hasTable();
  }

  /** Whether what archives new rows during an undo is there. */
  public boolean canArchiveNewRows() {
    return store.hasArchiving();
  }

  /**
   * Puts empty ones where the statements of an undo expect them, so that the undo can take all of
   * the rest away. A backfill can't go on with them, and says so.
   */
  public void mend(Extent extent) {
    if (!missing(extent).isEmpty()) {
      store.mend(extent == Extent.ON_TABLE && hasTable());
    }
  }
}
