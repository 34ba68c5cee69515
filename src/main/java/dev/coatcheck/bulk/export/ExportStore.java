package dev.coatcheck.bulk.export;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.MappingTable;
import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Shards;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.Copy;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.UUID;
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
  private static final int FIELDS = 7;

  private final DatabaseSettings settings;
  private final Observer observer;

  ExportStore(DatabaseSettings settings, Observer observer) {
    this.settings = settings;
    this.observer = observer;
  }

  /**
   * Passes every row to the writer.
   *
   * @throws DatabaseUnavailable if Postgres is not available; no row was passed on
   */
  ExportOutcome read(Type type, boolean includeEnded, ExportWriter writer) {
    try (Session session = Session.openForRequest(settings, "coatcheck export", observer)) {
      session.longTransaction(
          "export",
          sql -> {
            sql.execute("set transaction read only");
            sql.execute("set local statement_timeout = 0");
            // Without statistics, as just after an import, Postgres would read all aliases for
            // every row.
            sql.execute("set local enable_nestloop = off");
            if (Shards.of(sql).isOneTable()) {
              Copy.out(
                  sql,
                  copy(type, includeEnded),
                  FIRST_ROW_MAX,
                  NEXT_ROW_MAX,
                  row -> writer.write(row(row)));
            } else {
              ExportPageTable.write(sql, type, includeEnded, writer);
            }
            return true;
          });
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
