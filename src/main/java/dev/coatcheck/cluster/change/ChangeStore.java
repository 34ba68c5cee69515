package dev.coatcheck.cluster.change;

import dev.coatcheck.cluster.grant.PrimarySql;
import dev.coatcheck.core.observe.RootCause;
import dev.coatcheck.postgres.sql.KnownChange;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jooq.DSLContext;
import org.jooq.Record;
import org.jooq.Result;
import org.jooq.SQLDialect;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.postgresql.ds.PGSimpleDataSource;

/** All SQL that reads the feed. Each statement uses a connection of its own. */
final class ChangeStore {
  static final int READ_ROWS_MAX = 2_000;
  private static final int PURGE_ROWS_MAX = 2_000;
  private static final int STATEMENT_MILLIS_MAX = 800;

  /** One statement, so that the head and the rows are from one snapshot. */
  private static final String CHANGES =
      """
      select head.number, change.number, change.kind, change.subject,
             (select <micros> from coatcheck.change where number = head.number),
             case when not pg_is_in_recovery() then <timeline> end
      from coatcheck.change_head head left join lateral (
        select * from coatcheck.change <which>
      ) change on true
      order by change.number
      """
          .replace("<micros>", KnownChange.MICROS)
          .replace("<timeline>", PrimarySql.TIMELINE);

  private static final String READ =
      CHANGES.replace("<which>", "where number > {0} order by number limit {1}");

  /** By their time, which is that of their last statement. */
  private static final String RECENT =
      CHANGES.replace(
          "<which>",
          "where created_at > clock_timestamp() - interval '2 minutes'"
              + " order by number desc limit {0}");

  /** Changes nothing for those who follow: they have read beyond that number, or start there. */
  private static final String RESTORE_LAST =
      """
      insert into coatcheck.change (number, created_at, kind, subject)
      select number, clock_timestamp(), 'ending', 'imported' from coatcheck.change_head
      on conflict do nothing
      """;

  /**
   * Leaves the last change, by which a replica is compared. Reads only the oldest rows, however
   * many rows there are. Their numbers are an array, which is built once. A joined table would be
   * read once per row if the planner's statistics said that it is empty.
   */
  private static final String PURGE =
      """
      delete from coatcheck.change where number = any (array(
        select number from (
          select number, created_at from coatcheck.change order by number limit {0}
          for update skip locked
        ) oldest where created_at < clock_timestamp() - interval '1 hour'))
         and number < (select number from coatcheck.change_head)
      """;

  private final DataSource pool;

  ChangeStore(DataSource pool) {
    this.pool = pool;
  }

  /** Of no database, for a feed that never asks. */
  static ChangeStore none() {
    return new ChangeStore(new PGSimpleDataSource());
  }

  /** The changes after a number, {@value #READ_ROWS_MAX} at most. */
  FeedReply read(long after) {
    return reply(sql -> sql.fetch(READ, DSL.val(after), DSL.val(READ_ROWS_MAX)));
  }

  /** The changes of the last two minutes, {@value #READ_ROWS_MAX} at most. */
  FeedReply recent() {
    return reply(sql -> sql.fetch(RECENT, DSL.val(READ_ROWS_MAX)));
  }

  /** Never throws if the database is slow or gone: that is a reply too. */
  private FeedReply reply(Function<DSLContext, Result<Record>> question) {
    try {
      return reply(ask(question));
    } catch (SQLException | DataAccessException failed) {
      return new FeedReply.Failed(RootCause.words(failed));
    }
  }

  private static FeedReply reply(Result<Record> rows) {
    if (rows.isEmpty()) {
      return new FeedReply.Failed("change_head has no row yet: a restore is under way");
    }
    List<FeedReply.Row> changes =
        rows.stream()
            .filter(row -> row.get(1) != null)
            .map(
                row ->
                    new FeedReply.Row(
                        row.get(1, Long.class), row.get(2, String.class), row.get(3, String.class)))
            .toList();
    Record first = rows.getFirst();
    Long timeline = first.get(5, Long.class);
    if (timeline == null) {
      return new FeedReply.Failed("the server is a standby, which may lag");
    }
    long head = Objects.requireNonNull(first.get(0, Long.class));
    return new FeedReply.Read(
        head,
        changes,
        Optional.ofNullable(first.get(4, Long.class))
            .map(micros -> new LastChange(new KnownChange(head, micros), timeline)));
  }

  /** Writes the row of the last change again, which earlier releases have purged. */
  void restoreLast() {
    try {
      int _ = ask(sql -> sql.query(RESTORE_LAST).execute());
    } catch (SQLException | DataAccessException failed) {
      // The next poll tries again.
    }
  }

  /** Deletes rows older than an hour; true if there may be more of them. */
  boolean purge() {
    try {
      return ask(sql -> sql.query(PURGE, DSL.val(PURGE_ROWS_MAX)).execute()) == PURGE_ROWS_MAX;
    } catch (SQLException | DataAccessException failed) {
      return false;
    }
  }

  private <T> T ask(Function<DSLContext, T> work) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      connection.setNetworkTimeout(Runnable::run, STATEMENT_MILLIS_MAX);
      return work.apply(DSL.using(connection, SQLDialect.POSTGRES));
    }
  }
}
