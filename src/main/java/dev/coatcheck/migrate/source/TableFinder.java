package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.Database;
import java.util.Optional;

/** Finds a table by its OID and its columns by their numbers, which stay when names change. */
public final class TableFinder {
  private TableFinder() {}

  /**
   * What to find a table by later.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the source can't be asked
   */
  public static Target.Anchors anchors(
      Database source, long oid, String keyColumn, Optional<Target.TimeColumn> createdAt) {
    return source.read(
        "anchors", sql -> new TableFinderStore(sql).anchors(oid, keyColumn, createdAt));
  }

  /**
   * The search path of sessions that the table's owner opens: that of the role's settings, of the
   * database's, or of the server.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the source can't be asked
   */
  public static SearchPath ownersPath(Database source, DatabaseSettings settings, long oid) {
    try (Session unpinned = Session.openUnpinned(settings, "coatcheck plan")) {
      String defaultPath = TableFinderStore.defaultPath(unpinned);
      return source.read(
          "search path", sql -> new TableFinderStore(sql).ownersPath(oid, defaultPath));
    }
  }

  /**
   * The table with the names that it has now; empty if it, or a column, is gone.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the source can't be asked
   */
  public static Optional<Target> now(Database source, Target target) {
    return source.read("names", sql -> new TableFinderStore(sql).now(target));
  }

  /** The same on a runner's session. */
  public static Optional<Target> now(Session session, Target target) {
    return session.transaction("names", sql -> new TableFinderStore(sql).now(target));
  }
}
