package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.postgres.connection.BrokenOff;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.PlainSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import org.jooq.DSLContext;

/** The statements of leases over HTTP: those of all leases, and a few of their own. */
final class ClientLeaseStore {
  /** Two acquires at the same time would both count before either has a worker. */
  private static final String IN_TURN = "select pg_advisory_xact_lock(7023115018)";

  /** A rest after a failover is nobody's: a row keeps the principal of its last lease for good. */
  private static final String TAKEN =
      LeaseStatements.MOMENT
          + """
          select count(*) filter (where l.principal = ? and %s),
                 count(*) filter (where l.layout = ? and l.worker between ? and ?)
            from coatcheck.worker_lease l, moment m
           where l.principal is not null and %s
          """
              .formatted(LeaseStatements.IS_HELD, LeaseStatements.IS_TAKEN);

  private static final String FIND =
      LeaseStatements.MOMENT
          + """
          select l.layout, l.worker, l.epoch, m.ms
            from coatcheck.worker_lease l, moment m
           where l.lease_hash = decode(?, 'hex') and l.principal = ?
          """;

  /** After this time there may be room again: other clients release, and rests end. */
  private static final long RETRY_AFTER_MILLIS = 1_000;

  /**
   * How far ahead of the database's clock a holder's mark can be. It was granted a window at most,
   * on a primary whose clock may have been ahead. A mark from the far future would end a worker for
   * good.
   */
  private static final long MARK_AHEAD_MILLIS_MAX =
      LeaseSettings.WINDOW_MILLIS_MAX + LeaseSettings.REST_BEYOND_WINDOW_MILLIS;

  private final Database database;

  ClientLeaseStore(Database database) {
    this.database = database;
  }

  /**
   * Who asks for a worker.
   *
   * @param needsRoom its layout may be one too many
   * @param leasesMax how many workers the principal may have
   * @param clientsMax how many workers of the range all clients together may have
   */
  record Asker(
      String id,
      WorkerLeaseStore.Client client,
      boolean needsRoom,
      int leasesMax,
      long clientsMax) {}

  private record Taken(long byPrincipal, long inRange) {}

  private record Found(SnowflakeLayout layout, int worker, long epoch, long nowMillis) {}

  ClientLeases.Acquisition acquire(LeaseSettings settings, Asker asker) {
    return database.write("lease", sql -> acquire(sql, settings, asker));
  }

  private static ClientLeases.Acquisition acquire(
      DSLContext sql, LeaseSettings settings, Asker asker) {
    PlainSql.execute(sql, IN_TURN);
    if (asker.needsRoom() && !LayoutStore.hasRoom(sql, settings.layout())) {
      return new ClientLeases.Acquisition.TooManyLayouts();
    }
    String layout = settings.layout().name();
    Taken taken =
        PlainSql.row(
            sql,
            TAKEN,
            row -> new Taken(row.getLong(1), row.getLong(2)),
            asker.client().principal(),
            layout,
            settings.firstWorker(),
            settings.lastWorker());
    if (taken.byPrincipal() >= asker.leasesMax()) {
      return new ClientLeases.Acquisition.TooMany(asker.leasesMax());
    }
    if (taken.inRange() >= asker.clientsMax()) {
      return new ClientLeases.Acquisition.NoneFree(
          "clients have %d of the workers %d..%d of layout %s, and the others are for gateways"
              .formatted(taken.inRange(), settings.firstWorker(), settings.lastWorker(), layout),
          RETRY_AFTER_MILLIS);
    }
    LeaseReply reply =
        sent(
            sql,
            connection ->
                WorkerLeaseStore.acquire(
                    connection, settings, LeaseStatements.Conditions.KEPT, asker.client()));
    return switch (reply) {
      case LeaseReply.Acquired(int worker, long epoch, long nowMillis, long untilMillis) ->
          new ClientLeases.Acquisition.Granted(
              asker.id(), window(settings.layout(), worker, epoch, nowMillis, untilMillis));
      case LeaseReply.NoneFree(String reason, long freeInMillis) ->
          new ClientLeases.Acquisition.NoneFree(
              reason, Math.min(freeInMillis, LeaseKeeper.RETRY_AFTER_MILLIS_MAX));
      default -> throw new IllegalStateException("acquire replied " + reply);
    };
  }

  private static ClientLeases.Window window(
      SnowflakeLayout layout, int worker, long epoch, long nowMillis, long untilMillis) {
    return new ClientLeases.Window(
        layout, worker, epoch, Instant.ofEpochMilli(nowMillis), Instant.ofEpochMilli(untilMillis));
  }

  ClientLeases.Renewal renew(WorkerLeaseStore.Client client, long epoch, long untilMillis) {
    return database.write(
        "lease renewal",
        sql -> {
          Optional<Found> found = find(sql, client);
          if (found.isEmpty()) {
            return new ClientLeases.Renewal.Unknown();
          }
          Found lease = found.get();
          if (untilMillis > lease.nowMillis() + MARK_AHEAD_MILLIS_MAX) {
            return new ClientLeases.Renewal.Stale();
          }
          LeaseRequest.Renew renew = new LeaseRequest.Renew(lease.worker(), epoch, untilMillis);
          LeaseReply reply =
              sent(
                  sql,
                  connection ->
                      WorkerLeaseStore.renew(
                          connection,
                          LeaseSettings.of(lease.layout(), client.principal()),
                          LeaseStatements.Conditions.KEPT,
                          renew));
          return reply instanceof LeaseReply.Renewed(long nowMillis, long grantedMillis)
              ? new ClientLeases.Renewal.Renewed(
                  window(lease.layout(), lease.worker(), epoch, nowMillis, grantedMillis))
              : new ClientLeases.Renewal.Stale();
        });
  }

  boolean release(WorkerLeaseStore.Client client) {
    return database.write(
        "lease release",
        sql -> {
          Optional<Found> found = find(sql, client);
          found.ifPresent(
              lease ->
                  sent(
                      sql,
                      connection ->
                          WorkerLeaseStore.release(
                              connection,
                              lease.layout().name(),
                              new LeaseRequest.Release(lease.worker(), lease.epoch()))));
          return found.isPresent();
        });
  }

  private static Optional<Found> find(DSLContext sql, WorkerLeaseStore.Client client) {
    return PlainSql.first(
        sql,
        FIND,
        row ->
            new Found(
                SnowflakeLayout.accepted(row.getString(1)),
                row.getInt(2),
                row.getLong(3),
                row.getLong(4)),
        client.idHash(),
        client.principal());
  }

  private interface Request {
    LeaseReply over(Connection connection) throws SQLException;
  }

  private static LeaseReply sent(DSLContext sql, Request request) {
    return sql.connectionResult(
        connection -> {
          try {
            return request.over(connection);
          } catch (SQLException | RuntimeException thrown) {
            throw BrokenOff.judged(connection, thrown);
          }
        });
  }
}
