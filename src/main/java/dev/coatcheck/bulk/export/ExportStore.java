package dev.coatcheck.bulk.export;

import dev.coatcheck.ids.mapping.AliasScheme;
import dev.coatcheck.ids.mapping.MappingTable;
import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.Deadline;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.UUID;
import java.util.concurrent.Executor;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyOut;

/**
 * All SQL of exports: one COPY, so one snapshot, whose rows are read as fast as they are handed on.
 * It holds one connection of the pool.
 */
final class ExportStore {
  /** For the first row: aliases have no index by their target, so all are read before it. */
  private static final int FIRST_ROW_MILLIS_MAX = 10 * 60 * 1_000;

  /** Its reader's rate bounds it, not the clock. */
  private static final Duration LASTS_MAX = Duration.ofDays(7);

  private static final Executor AT_ONCE = Runnable::run;
  private static final int FIELDS = 7;

  private final Database database;

  ExportStore(Database database) {
    this.database = database;
  }

  /**
   * Hands every row to the writer.
   *
   * @throws IOException if the writer failed, or Postgres after it had answered
   */
  void read(Type type, boolean includeEnded, ExportWriter writer) throws IOException {
    String copy = copy(type, includeEnded);
    try {
      Deadline.after(LASTS_MAX)
          .<RuntimeException>run(
              () ->
                  database.<Boolean>write(
                      "export",
                      sql -> {
                        sql.execute("set transaction read only");
                        // Without statistics, as just after an import, Postgres would read all
                        // aliases anew for every row.
                        sql.execute("set local enable_nestloop = off");
                        sql.connection(connection -> read(connection, copy, writer));
                        return true;
                      }));
    } catch (UncheckedIOException stopped) {
      throw stopped.getCause();
    }
  }

  /** COPY takes no parameters; a number and constants are all that goes into its text. */
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
      where m.type_id = %d%s
      order by m.key) to stdout
    """
        .formatted(
            MappingTable.of(type.keyScheme()).qualifiedName(),
            AliasScheme.LEGACY.wireName(),
            AliasScheme.CLIENT.wireName(),
            type.number(),
            includeEnded ? "" : " and m.status = 0");
  }

  private static void read(Connection connection, String query, ExportWriter writer)
      throws SQLException {
    int usualMillis = connection.getNetworkTimeout();
    connection.setNetworkTimeout(AT_ONCE, FIRST_ROW_MILLIS_MAX);
    CopyOut copy = connection.unwrap(PGConnection.class).getCopyAPI().copyOut(query);
    try {
      byte[] row = copy.readFromCopy();
      connection.setNetworkTimeout(AT_ONCE, usualMillis);
      for (; row != null; row = copy.readFromCopy()) {
        writer.write(row(row));
      }
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    } catch (SQLException broken) {
      // Begun again, it would write the first rows twice.
      if (writer.hasBegun()) {
        throw new UncheckedIOException(new IOException(broken));
      }
      throw broken;
    } finally {
      if (copy.isActive()) {
        copy.cancelCopy();
      }
    }
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
