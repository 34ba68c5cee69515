package dev.coatcheck.cluster.lease;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Sends a lease's requests to Postgres in plain JDBC, each as one statement on a connection of its
 * own.
 */
final class WorkerLeaseStore {
  private static final int STATEMENT_MILLIS_MAX = 800;

  /** After which a holder with another window than the database's asks again. */
  private static final long OTHER_WINDOW_MILLIS = 1_000;

  private static final Pattern PLACEHOLDER = Pattern.compile("\\{([0-9])}");

  private final DataSource pool;
  private final LeaseSettings settings;
  private final LeaseStatements.Conditions conditions;

  WorkerLeaseStore(DataSource pool, LeaseSettings settings) {
    this(pool, settings, LeaseStatements.Conditions.KEPT);
  }

  WorkerLeaseStore(DataSource pool, LeaseSettings settings, LeaseStatements.Conditions conditions) {
    this.pool = pool;
    this.settings = settings;
    this.conditions = conditions;
  }

  /**
   * Who leases over HTTP.
   *
   * @param idHash SHA-256 of the ID of the lease, in hexadecimal digits
   */
  record Client(String idHash, String principal) {}

  /** Never throws for a database that is slow or gone: that is a reply too. */
  LeaseReply send(LeaseRequest request) {
    try (Connection connection = pool.getConnection()) {
      int millisBefore = connection.getNetworkTimeout();
      boolean committedBefore = connection.getAutoCommit();
      try {
        connection.setNetworkTimeout(Runnable::run, STATEMENT_MILLIS_MAX);
        if (!committedBefore) {
          connection.setAutoCommit(true);
        }
        return send(connection, settings, conditions, request);
      } finally {
        giveBack(connection, millisBefore, committedBefore);
      }
    } catch (SQLException e) {
      return new LeaseReply.Failed("Postgres did not answer: " + words(e));
    }
  }

  /** As it was: it goes to a pool, which may be an application's. */
  private static void giveBack(Connection connection, int millisBefore, boolean committedBefore) {
    try {
      if (!committedBefore) {
        connection.setAutoCommit(false);
      }
      connection.setNetworkTimeout(Runnable::run, millisBefore);
    } catch (SQLException broken) {
      // Then no pool gives it to anybody.
    }
  }

  /** The words of Postgres, in one line. */
  private static String words(Throwable thrown) {
    Throwable root = thrown;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return String.join(" ", String.valueOf(root.getMessage()).split("\\s*\\R\\s*"));
  }

  private static LeaseReply send(
      Connection connection,
      LeaseSettings settings,
      LeaseStatements.Conditions conditions,
      LeaseRequest request)
      throws SQLException {
    if (request instanceof LeaseRequest.Renew renew) {
      return renew(connection, settings, conditions, renew);
    }
    if (request instanceof LeaseRequest.Release release) {
      return release(connection, settings.layout().name(), release);
    }
    return acquire(connection, settings, conditions, null);
  }

  /**
   * Acquires any free worker.
   *
   * @param client null for a holder that talks to Postgres itself
   */
  static LeaseReply acquire(
      Connection connection,
      LeaseSettings settings,
      LeaseStatements.Conditions conditions,
      @Nullable Client client)
      throws SQLException {
    LeaseSettings asked = settings;
    if (settings.windowMillis() == LeaseSettings.WINDOW_OF_THE_DATABASE) {
      asked = settings.withWindow(window(connection).orElse(LeaseSettings.WINDOW_MILLIS_DEFAULT));
    }
    @Nullable Object[] values = values(asked, client);
    Optional<LeaseReply> first = acquireFree(connection, values);
    if (first.isPresent()) {
      return first.get();
    }
    boolean isFirst = execute(connection, LeaseStatements.SET_WINDOW, values) > 0;
    long window = window(connection).orElse(asked.windowMillis());
    if (window != asked.windowMillis()) {
      return new LeaseReply.NoneFree(
          "all holders of workers have one window, which is %d ms in this database and %d ms here"
              .formatted(window, asked.windowMillis()),
          OTHER_WINDOW_MILLIS);
    }
    Optional<LeaseReply> second = isFirst ? acquireFree(connection, values) : Optional.empty();
    if (second.isPresent()) {
      return second.get();
    }
    int registered =
        execute(connection, LeaseStatements.REGISTER.formatted(conditions.neverLost()), values);
    Optional<LeaseReply> third =
        registered > 0 ? acquireFree(connection, values) : Optional.empty();
    return third.isPresent() ? third.get() : noneFree(connection, asked, values);
  }

  private static Optional<LeaseReply> acquireFree(Connection connection, @Nullable Object[] values)
      throws SQLException {
    return first(
        connection,
        LeaseStatements.ACQUIRE,
        values,
        row ->
            new LeaseReply.Acquired(row.getInt(1), row.getLong(2), row.getLong(3), row.getLong(4)));
  }

  private static @Nullable Object[] values(LeaseSettings settings, @Nullable Client client) {
    return new @Nullable Object[] {
      settings.layout().name(),
      settings.firstWorker(),
      settings.lastWorker(),
      settings.holder(),
      LeaseSettings.REST_BEYOND_WINDOW_MILLIS,
      LeaseSettings.LEASE_MILLIS,
      settings.windowMillis(),
      settings.neverLeased(),
      client == null ? null : client.idHash(),
      client == null ? null : client.principal()
    };
  }

  static LeaseReply renew(
      Connection connection,
      LeaseSettings settings,
      LeaseStatements.Conditions conditions,
      LeaseRequest.Renew renew)
      throws SQLException {
    @Nullable Object[] values = {
      settings.layout().name(),
      renew.worker(),
      renew.epoch(),
      renew.untilMillis(),
      LeaseSettings.REST_BEYOND_WINDOW_MILLIS,
      LeaseSettings.LEASE_MILLIS,
      Math.max(settings.windowMillis(), LeaseSettings.WINDOW_MILLIS_MIN)
    };
    return first(
            connection,
            LeaseStatements.RENEW.formatted(conditions.renewable()),
            values,
            row -> (LeaseReply) new LeaseReply.Renewed(row.getLong(1), row.getLong(2)))
        .orElseGet(LeaseReply.Gone::new);
  }

  static LeaseReply release(Connection connection, String layout, LeaseRequest.Release release)
      throws SQLException {
    execute(
        connection,
        LeaseStatements.RELEASE,
        new @Nullable Object[] {layout, release.worker(), release.epoch()});
    return new LeaseReply.Released();
  }

  /** The window of all holders, in milliseconds; empty before the first one. */
  static Optional<Long> window(Connection connection) throws SQLException {
    return first(
        connection, LeaseStatements.WINDOW, new @Nullable Object[0], row -> row.getLong(1));
  }

  /** Says who holds what, so that a reader knows whom to ask, and when the first may be free. */
  private static LeaseReply noneFree(
      Connection connection, LeaseSettings settings, @Nullable Object[] values)
      throws SQLException {
    List<String> groups = new ArrayList<>();
    long freeInMillis = 0;
    try (PreparedStatement statement = prepared(connection, LeaseStatements.NONE_FREE, values);
        ResultSet row = statement.executeQuery()) {
      while (row.next()) {
        String holder = row.getString("holder");
        groups.add(
            (holder == null
                    ? "not yet held, resting "
                    : holder + (row.getBoolean("held") ? " holds " : " left resting "))
                + row.getLong("workers"));
        long freeIn = row.getLong("free_in_ms");
        freeInMillis = groups.size() == 1 ? freeIn : Math.min(freeInMillis, freeIn);
      }
    }
    return new LeaseReply.NoneFree(
        "no worker %d..%d of layout %s is free: %s"
            .formatted(
                settings.firstWorker(),
                settings.lastWorker(),
                settings.layout().name(),
                groups.isEmpty()
                    ? "other instances are acquiring them"
                    : String.join(", ", groups)),
        freeInMillis);
  }

  /** What a row says. */
  interface RowReader<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** The first row of a statement with numbered placeholders. */
  static <T> Optional<T> first(
      Connection connection, String text, @Nullable Object[] values, RowReader<T> reader)
      throws SQLException {
    try (PreparedStatement statement = prepared(connection, text, values);
        ResultSet row = statement.executeQuery()) {
      return row.next() ? Optional.of(reader.read(row)) : Optional.empty();
    }
  }

  /** How many rows it changed. */
  private static int execute(Connection connection, String text, @Nullable Object[] values)
      throws SQLException {
    try (PreparedStatement statement = prepared(connection, text, values)) {
      return statement.executeUpdate();
    }
  }

  private static PreparedStatement prepared(
      Connection connection, String text, @Nullable Object[] values) throws SQLException {
    List<Integer> order = new ArrayList<>();
    Matcher placeholders = PLACEHOLDER.matcher(text);
    String sql =
        placeholders.replaceAll(
            placeholder -> {
              order.add(Integer.valueOf(placeholder.group(1)));
              return "?";
            });
    PreparedStatement statement = connection.prepareStatement(sql);
    try {
      for (int i = 0; i < order.size(); i++) {
        bind(connection, statement, i + 1, values[order.get(i)]);
      }
      return statement;
    } catch (SQLException | RuntimeException e) {
      statement.close();
      throw e;
    }
  }

  private static void bind(
      Connection connection, PreparedStatement statement, int index, @Nullable Object value)
      throws SQLException {
    if (value instanceof Integer[] numbers) {
      Array array = connection.createArrayOf("int4", numbers);
      statement.setArray(index, array);
    } else if (value == null) {
      statement.setString(index, null);
    } else {
      statement.setObject(index, value);
    }
  }
}
