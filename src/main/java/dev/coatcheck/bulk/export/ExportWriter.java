package dev.coatcheck.bulk.export;

import dev.coatcheck.bulk.rows.Column;
import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.bulk.rows.Timestamps;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.Type;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import tools.jackson.core.io.JsonStringEncoder;

/** Writes exported mappings as lines, 64 KiB at a time. Only namespaces need quotes. */
final class ExportWriter {
  private static final int BUFFER_CHARACTERS = 64 * 1024;
  private static final List<String> STATUSES = List.of("active", "revoked", "merged");

  private final Type type;
  private final RowFormat format;
  private final boolean withStatus;
  private final OutputStream target;
  private final StringBuilder lines = new StringBuilder(2 * BUFFER_CHARACTERS);
  private boolean begun;

  ExportWriter(Type type, RowFormat format, boolean withStatus, OutputStream target) {
    this.type = type;
    this.format = format;
    this.withStatus = withStatus;
    this.target = target;
  }

  /**
   * A row as Postgres returns it.
   *
   * @param legacyId empty if there is none
   * @param clientId empty if there is none
   */
  record Row(
      String key,
      long createdAtMicros,
      UUID token,
      String legacyId,
      int status,
      String clientId,
      Namespace namespace) {}

  void write(Row row) throws IOException {
    begin();
    String id = new PublicId(type.prefix(), Token.of(row.token())).toString();
    switch (format) {
      case CSV -> csv(row, id);
      case NDJSON -> ndjson(row, id);
    }
    lines.append('\n');
    if (lines.length() >= BUFFER_CHARACTERS) {
      flush();
    }
  }

  /** Called after the last row, even if there was none. */
  void finish() throws IOException {
    begin();
    flush();
  }

  boolean hasBegun() {
    return begun;
  }

  private void begin() {
    if (!begun && format == RowFormat.CSV) {
      lines
          .append(
              "type,key,legacy_id,created_at,public_id,client_id,client_namespace,client_principal")
          .append(withStatus ? ",status\n" : "\n");
    }
    begun = true;
  }

  private void csv(Row row, String id) {
    lines.append(type.name());
    comma(row.key());
    comma(row.legacyId());
    comma(Timestamps.text(row.createdAtMicros()));
    comma(id);
    comma(row.clientId());
    comma(quoted(row.namespace().name()));
    comma(quoted(row.namespace().principal()));
    if (withStatus) {
      comma(STATUSES.get(row.status()));
    }
  }

  private void comma(String field) {
    lines.append(',').append(field);
  }

  private void ndjson(Row row, String id) {
    lines.append('{');
    field(Column.TYPE.wireName(), type.name());
    field(Column.KEY.wireName(), row.key());
    if (!row.legacyId().isEmpty()) {
      field(Column.LEGACY_ID.wireName(), row.legacyId());
    }
    field(Column.CREATED_AT.wireName(), Timestamps.text(row.createdAtMicros()));
    field(Column.PUBLIC_ID.wireName(), id);
    if (!row.clientId().isEmpty()) {
      field(Column.CLIENT_ID.wireName(), row.clientId());
      row.namespace()
          .name()
          .ifPresent(name -> field(Column.CLIENT_NAMESPACE.wireName(), escaped(name)));
      row.namespace()
          .principal()
          .ifPresent(name -> field(Column.CLIENT_PRINCIPAL.wireName(), escaped(name)));
    }
    if (withStatus) {
      field("status", STATUSES.get(row.status()));
    }
    lines.setCharAt(lines.length() - 1, '}');
  }

  private static String quoted(Optional<String> text) {
    return text.map(each -> '"' + each.replace("\"", "\"\"") + '"').orElse("");
  }

  private static String escaped(String text) {
    StringBuilder escaped = new StringBuilder();
    JsonStringEncoder.getInstance().quoteAsString(text, escaped);
    return escaped.toString();
  }

  private void field(String name, String value) {
    lines.append('"').append(name).append("\":\"").append(value).append("\",");
  }

  private void flush() throws IOException {
    target.write(lines.toString().getBytes(StandardCharsets.UTF_8));
    lines.setLength(0);
  }
}
