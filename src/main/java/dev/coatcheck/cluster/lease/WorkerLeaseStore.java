package dev.coatcheck.cluster.lease;

import dev.coatcheck.postgres.connection.RootCause;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.QueryPart;
import org.jooq.SQLDialect;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;

/** Sends a lease's requests to Postgres, each as one statement on a connection of its own. */
final class WorkerLeaseStore {
  private static final int STATEMENT_MILLIS_MAX = 800;

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

  /** Never throws for a database that is slow or gone: that is a reply too. */
  LeaseReply send(LeaseRequest request) {
    try (Connection connection = pool.getConnection()) {
      connection.setNetworkTimeout(Runnable::run, STATEMENT_MILLIS_MAX);
      DSLContext sql = DSL.using(connection, SQLDialect.POSTGRES);
      return switch (request) {
        case LeaseRequest.Acquire _ -> acquire(sql);
        case LeaseRequest.Renew renew -> renew(sql, renew);
        case LeaseRequest.Release release -> release(sql, release);
      };
    } catch (SQLException | DataAccessException e) {
      return new LeaseReply.Failed(RootCause.words(e));
    }
  }

  private LeaseReply acquire(DSLContext sql) {
    Optional<LeaseReply> first = acquireFree(sql);
    if (first.isPresent()) {
      return first.get();
    }
    int registered =
        sql.execute(LeaseStatements.REGISTER.formatted(conditions.neverLost()), acquisition());
    Optional<LeaseReply> second = registered > 0 ? acquireFree(sql) : Optional.empty();
    return second.orElseGet(() -> WorkerStore.noneFree(sql, settings));
  }

  private Optional<LeaseReply> acquireFree(DSLContext sql) {
    return sql.resultQuery(LeaseStatements.ACQUIRE, acquisition())
        .fetchOptional(
            row ->
                new LeaseReply.Acquired(
                    row.get(0, Integer.class),
                    row.get(1, Long.class),
                    row.get(2, Long.class),
                    row.get(3, Long.class)));
  }

  private QueryPart[] acquisition() {
    return new QueryPart[] {
      DSL.val(settings.layout().name()),
      DSL.val(settings.firstWorker()),
      DSL.val(settings.lastWorker()),
      DSL.val(settings.holder()),
      DSL.val(settings.restMillis()),
      DSL.val(LeaseSettings.LEASE_MILLIS),
      DSL.val(settings.windowMillis()),
      DSL.val(settings.neverLeased())
    };
  }

  private LeaseReply renew(DSLContext sql, LeaseRequest.Renew renew) {
    return sql.resultQuery(
            LeaseStatements.RENEW.formatted(conditions.renewable()),
            DSL.val(settings.layout().name()),
            DSL.val(renew.worker()),
            DSL.val(renew.epoch()),
            DSL.val(renew.untilMillis()),
            DSL.val(settings.restMillis()),
            DSL.val(LeaseSettings.LEASE_MILLIS),
            DSL.val(settings.windowMillis()))
        .fetchOptional()
        .<LeaseReply>map(
            row -> new LeaseReply.Renewed(row.get(0, Long.class), row.get(1, Long.class)))
        .orElseGet(LeaseReply.Gone::new);
  }

  private LeaseReply release(DSLContext sql, LeaseRequest.Release release) {
    sql.execute(
        LeaseStatements.RELEASE,
        DSL.val(settings.layout().name()),
        DSL.val(release.worker()),
        DSL.val(release.epoch()));
    return new LeaseReply.Released();
  }
}
