package dev.coatcheck.migrate.film;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/**
 * A kind of operation, as a framework sends it.
 *
 * @param isolation empty: each statement is a transaction of its own
 * @param named by SQLSTATE, the precondition of a plan that explains it
 */
record WebKind(String name, String isolation, Map<String, String> named, Operation operation) {
  static final String STALE_PLAN = "0A000";
  static final String OTHER_SHAPE = "42804";

  /** It happens to such transactions with and without a migration, and they are sent again. */
  static final String NOT_SERIALIZABLE = "40001";

  private static final String READ_COMMITTED = "read committed";

  /** What an operation sends. */
  interface Operation {
    void run(WebCall call) throws SQLException, IOException;
  }

  /** Statements that commit by themselves. */
  static WebKind alone(String name, Operation operation) {
    return new WebKind(name, "", Map.of(), operation);
  }

  /** Statements in one transaction. */
  static WebKind together(String name, Operation operation) {
    return new WebKind(name, READ_COMMITTED, Map.of(), operation);
  }

  /** Statements of one snapshot, sent again on 40001. */
  static WebKind isolated(String name, String isolation, Operation operation) {
    return new WebKind(
        name, isolation, Map.of(NOT_SERIALIZABLE, "serialization_failures"), operation);
  }

  /** It takes all columns, as many as there are. */
  WebKind takingAllColumns() {
    return explaining(STALE_PLAN, "prepared_star");
  }

  WebKind explaining(String state, String code) {
    Map<String, String> more = new HashMap<>(named);
    more.put(state, code);
    return new WebKind(name, isolation, Map.copyOf(more), operation);
  }

  /** Whether an error is the price of its isolation. */
  boolean isOfItsOwn(String state) {
    return state.equals(NOT_SERIALIZABLE) && isolated();
  }

  private boolean isolated() {
    return !isolation.isEmpty() && !isolation.equals(READ_COMMITTED);
  }

  /** Once, with what its commit acknowledges. */
  void serve(WebCall call) throws SQLException, IOException {
    Connection connection = call.connection;
    connection.setAutoCommit(isolation.isEmpty());
    if (isolated()) {
      call.send("set transaction isolation level " + isolation);
    }
    operation.run(call);
    if (!isolation.isEmpty()) {
      connection.commit();
      call.committed();
    }
  }
}
