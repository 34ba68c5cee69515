package dev.coatcheck.migrate.source;

import java.util.List;

/**
 * An object that a run made in the source, and still needs, is missing. A retry would not bring it
 * back.
 */
public final class ObjectsGone extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * The message says what is gone, and what can be done.
   *
   * @param objects in words, at least one
   */
  public ObjectsGone(List<String> objects) {
    super(
        "Gone from the source: %s. Restore it and retry; or undo from expand on, which keeps the keys,"
                .formatted(String.join(", ", objects))
            + " and plan the table again.");
  }

  /** The row of the run that says how far it is. */
  public static ObjectsGone checkpoint() {
    return new ObjectsGone(List.of("the row of this run in coatcheck_migration.checkpoint"));
  }
}
