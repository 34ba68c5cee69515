package dev.coatcheck.postgres.sql;

import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jooq.DSLContext;

/**
 * The first statement of transactions: it sets their bounds until they end, because a pooler may
 * drop what a connection begins with.
 *
 * <p>On a database that holds tables of others every transaction begins with it. It has the server
 * end a transaction whose client is gone or cut off, which would hold its locks for hours. Other
 * time-outs are set in the same statement, without another round trip.
 */
public final class TransactionStart {
  /** A system may refuse what it doesn't know, or write a line to the server's log each time. */
  private static final String SETTINGS =
      """
      select pg_catalog.set_config(s.name, s.value, <is_local>)
        from (values ('idle_in_transaction_session_timeout', '10s', ''),
                     ('tcp_keepalives_idle', '10', 'linux|darwin|bsd'),
                     ('tcp_keepalives_interval', '5', 'linux|darwin|bsd'),
                     ('tcp_keepalives_count', '3', 'linux|darwin|bsd'),
                     ('tcp_user_timeout', '20000', 'linux'),
                     ('client_connection_check_interval', '5s', 'linux|darwin|bsd'),
                     ('application_name', ?::pg_catalog.text, ''),
                     ('statement_timeout', ?::pg_catalog.text, ''),
                     ('lock_timeout', ?::pg_catalog.text, '')) as s (name, value, systems)
       where s.value operator(pg_catalog.<>) ''
         and pg_catalog.current_setting(s.name, true) is not null
         and pg_catalog.version() operator(pg_catalog.~) s.systems\
      """;

  private static final String LOCAL = SETTINGS.replace("<is_local>", "true");
  private static final String OF_SESSION = SETTINGS.replace("<is_local>", "false");

  private static final String RESET =
      Stream.of(
              "idle_in_transaction_session_timeout",
              "tcp_keepalives_idle",
              "tcp_keepalives_interval",
              "tcp_keepalives_count",
              "tcp_user_timeout",
              "client_connection_check_interval",
              "statement_timeout")
          .map("reset "::concat)
          .collect(Collectors.joining("; "));

  /** On our own database: nothing without a bound. */
  public static final TransactionStart OURS =
      new TransactionStart(Optional.empty(), Optional.empty());

  /** On a database that holds tables of others. */
  public static final TransactionStart ON_SOURCE =
      new TransactionStart(Optional.of(LOCAL), Optional.empty());

  /** There too, for one that only reads, all of it as of one moment. Nothing may be read before. */
  public static final TransactionStart OF_SNAPSHOT =
      new TransactionStart(
          Optional.of("set transaction isolation level repeatable read, read only; " + LOCAL),
          Optional.empty());

  private final Optional<String> text;
  private final Optional<String> applicationName;

  private TransactionStart(Optional<String> text, Optional<String> applicationName) {
    this.text = text;
    this.applicationName = applicationName;
  }

  /** On a source, with a name by which others find it in {@code pg_stat_activity} meanwhile. */
  public static TransactionStart named(String applicationName) {
    return new TransactionStart(ON_SOURCE.text, Optional.of(applicationName));
  }

  /**
   * To be sent first.
   *
   * @param statementMillisMax of each statement, where the connection's bound doesn't do; 0: none
   * @param lockMillisMax of each lock
   */
  public void send(DSLContext sql, OptionalLong statementMillisMax, OptionalLong lockMillisMax) {
    if (text.isPresent()) {
      send(sql, text.get(), statementMillisMax, lockMillisMax);
    } else {
      // Statements that set something are no queries: the work may choose its isolation.
      String bounds =
          Stream.of(
                  local("statement_timeout", statementMillisMax),
                  local("lock_timeout", lockMillisMax))
              .flatMap(Optional::stream)
              .collect(Collectors.joining("; "));
      if (!bounds.isEmpty()) {
        PlainSql.execute(sql, bounds);
      }
    }
  }

  /** For a statement that runs outside of any transaction, without a bound, until {@link #end}. */
  public static void sendAlone(DSLContext sql) {
    ON_SOURCE.send(sql, OF_SESSION, OptionalLong.of(0), OptionalLong.empty());
  }

  /** Sets back what {@link #sendAlone} has set. */
  public static void end(DSLContext sql) {
    PlainSql.execute(sql, RESET);
  }

  private void send(DSLContext sql, String start, OptionalLong statement, OptionalLong lock) {
    PlainSql.execute(sql, start, applicationName.orElse(""), text(statement), text(lock));
  }

  private static String text(OptionalLong millis) {
    return millis.isPresent() ? Long.toString(millis.getAsLong()) : "";
  }

  private static Optional<String> local(String name, OptionalLong millis) {
    return millis.isPresent()
        ? Optional.of("set local " + name + " = " + millis.getAsLong())
        : Optional.empty();
  }
}
