package dev.coatcheck.migrate.steps;

import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.Database;

/**
 * Keeps the functions behind the triggers up to date with the table's names and owner. Functions
 * that are out of date still work, but slower.
 */
public final class Functions {
  private Functions() {}

  /**
   * Replaces them where the table was renamed, or has got another owner. Takes no lock on the
   * table.
   *
   * @param before the table with the names that the functions have
   * @param now the same table with those that it has
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the source can't be asked
   */
  public static void keepUp(Database source, Target before, Target now) {
    FunctionStore store = new FunctionStore(source);
    if (!before.equals(now) || !store.belongToOwner(now)) {
      store.replace(now);
    }
  }
}
