package dev.coatcheck.bulk.export;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.MappingTable;
import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.BrokenOff;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.Copy;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.PlainSql;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/**
 * All SQL of exports: one COPY, so one snapshot, on a connection that is opened and closed for it.
 * Rows are read as fast as they are passed on. Where tables are distributed, no statement joins
 * mappings and aliases, so rows are read in {@linkplain ExportPageTable pages}.
 */
final class ExportStore {
  /** Aliases have no index on their target, so all of them are read before the first row. */
  private static final Duration FIRST_ROW_MAX = Duration.ofMinutes(10);

  private static final Duration NEXT_ROW_MAX = Duration.ofSeconds(10);
  private static final int PAGE_MILLIS_MAX = 60_000;
  private static final int FIELDS = 7;
  private static final String OPERATION = "export";

  /** Not every system can, and the others refuse the setting. */
  private static final String NOTICE_END_OF_CONNECTION =
      """
      select set_config('client_connection_check_interval', '5s', true)
       where current_setting('client_connection_check_interval', true) is not null
         and version() ~ 'linux|darwin|bsd'
      """;

  private final DatabaseSettings settings;
  private final Observer observer;
  private final int pageMillisMax;

  ExportStore(DatabaseSettings settings, Observer observer) {
    this(settings, observer, PAGE_MILLIS_MAX);
  }

  /** Bounds each statement about a page of distributed tables. */
  ExportStore(DatabaseSettings settings, Observer observer, int pageMillisMax) {
    this.settings = settings;
    this.observer = observer;
    this.pageMillisMax = pageMillisMax;
  }

  /**
   * Passes every row to the writer.
   *
   * @param whenGone is given what ends the export once its reader has gone, on any thread
   * @throws DatabaseUnavailable if Postgres is not available; no row was passed on
   */
  ExportOutcome read(
      Type type, boolean includeEnded, ExportWriter writer, Consumer<Runnable> whenGone) {
    try (Session session = Session.openForRequest(settings, "coatcheck export", observer)) {
      if (settings.shards().isOneTable()) {
        session.longTransaction(
            OPERATION,
            sql -> passOn(sql, whenGone, () -> copyOut(sql, copy(type, includeEnded), writer)));
      } else {
        session.transaction(
            OPERATION,
            pageMillisMax,
            sql ->
                passOn(
                    sql, whenGone, () -> ExportPageTable.write(sql, type, includeEnded, writer)));
      }
      return ExportOutcome.DONE;
    } catch (UncheckedIOException stopped) {
      return ExportOutcome.READER_GONE;
    } catch (DatabaseUnavailable | DataAccessException broken) {
      // A second try would write the first rows twice.
      if (writer.hasBegun()) {
        return ExportOutcome.DATABASE_GONE;
      }
      throw broken;
    }
  }

  /**
   * Reads until the end, or until the reader has gone: then the connection is closed, and Postgres
   * notices, which else it would do at the first row.
   */
  private static boolean passOn(DSLContext sql, Consumer<Runnable> whenGone, Runnable rows) {
    PlainSql.execute(sql, "set transaction read only");
    PlainSql.execute(sql, NOTICE_END_OF_CONNECTION);
    AtomicBoolean isGone = new AtomicBoolean();
    sql.connection(
        connection ->
            whenGone.accept(
                () -> {
                  isGone.set(true);
                  BrokenOff.close(connection);
                }));
    try {
      rows.run();
      return true;
    } catch (RuntimeException broken) {
      throw isGone.get() ? new UncheckedIOException(new IOException(broken)) : broken;
    }
  }

  private static void copyOut(DSLContext sql, String statement, ExportWriter writer) {
    // Without statistics, as just after an import, Postgres would read all aliases for every row.
    PlainSql.execute(sql, "set local enable_nestloop = off");
    Copy.out(sql, statement, FIRST_ROW_MAX, NEXT_ROW_MAX, row -> writer.write(row(row)));
  }

  /** COPY takes no parameters. Its text contains only a number and constants. */
  private static String copy(Type type, boolean includeEnded) {
    return """
    copy (
      select m.key, (extract(epoch from m.created_at) * 1000000)::bigint, m.token,
             coalesce(a.value, ''), m.status, coalesce(c.value, ''),
             encode(convert_to(coalesce(c.namespace, ''), 'UTF8'), 'hex')
      from %s m
      left join coatcheck.alias a
        on a.token = m.token and a.type_id = m.type_id and a.scheme = '%s'
      left join coatcheck.alias c
        on c.token = m.token and c.type_id = m.type_id and c.scheme = '%s'
      where m.type_id = %d and m.status <> 3%s
      order by m.key) to stdout
    """
        .formatted(
            MappingTable.of(type.keyKind()).qualifiedName(),
            AliasScheme.LEGACY.wireName(),
            AliasScheme.CLIENT.wireName(),
            type.number(),
            includeEnded ? "" : " and m.status = 0");
  }

  private static ExportWriter.Row row(byte[] line) {
    String text = new String(line, 0, line.length - 1, StandardCharsets.US_ASCII);
    String[] fields = text.split("\t", FIELDS);
    return new ExportWriter.Row(
        fields[0],
        Long.parseLong(fields[1]),
        UUID.fromString(fields[2]),
        fields[3],
        Integer.parseInt(fields[4]),
        fields[5],
        new Namespace(new String(HexFormat.of().parseHex(fields[6]), StandardCharsets.UTF_8)));
  }
}
