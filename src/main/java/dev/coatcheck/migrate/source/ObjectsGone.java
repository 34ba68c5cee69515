package dev.coatcheck.migrate.source;

import java.util.List;

/** An object in the source that a run still needs is missing. A retry doesn't recreate it. */
public final class ObjectsGone extends RuntimeException {
  /**
   * The message says what is missing and what to do.
   *
   * @param objects in words, at least one
   */
  public ObjectsGone(List<String> objects) {
    super(
        "Gone from the source: %s. Restore it and retry; or undo from expand on, which keeps the keys,"
                .formatted(String.join(", ", objects))
            + " and plan the table again.");
  }

  private ObjectsGone(String message) {
    super(message);
  }

  /** For a table whose legacy IDs have left: there is no way back. */
  public static ObjectsGone contracted() {
    return new ObjectsGone(
        "The table is gone from the source, or its column of the keys: neither the trigger"
            + " ~coatcheck_update nor a primary key of one column names it.");
  }

  /** For the row with the run's checkpoint. */
  public static ObjectsGone checkpoint() {
    return new ObjectsGone(List.of("the row of this run in coatcheck_migration.checkpoint"));
  }
}
