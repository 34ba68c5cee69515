package dev.coatcheck.migrate.file;

import dev.coatcheck.bulk.rows.Column;
import dev.coatcheck.bulk.rows.RowFault;
import dev.coatcheck.bulk.rows.RowFile;
import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.bulk.rows.RowText;
import dev.coatcheck.bulk.rows.Timestamps;
import dev.coatcheck.ids.mapping.AliasScheme;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Gives the rows of a file their keys, for a table on which nothing may be installed: legacy IDs,
 * rising, with the times of their creation. Mappings and legacy IDs are written here; the keys get
 * back to the table by an export. The same file again changes nothing.
 */
final class FileImport {
  private static final int CHUNK_ROWS = 5_000;
  private static final Set<Column> NEEDED = Set.of(Column.LEGACY_ID);

  private final FileImportStore store;
  private final int errorsMax;
  private final List<FileOutcome.BadRow> errors = new ArrayList<>();
  private final List<FileOutcome.BadRow> bad = new ArrayList<>();
  private long created;
  private long existing;
  private long refused;

  FileImport(FileImportStore store, int errorsMax) {
    this.store = store;
    this.errorsMax = errorsMax;
  }

  /** A row that can be understood. */
  record Row(long line, long legacy, Optional<Instant> createdAt) {}

  FileOutcome run(RowFormat format, InputStream body) {
    long settled = 0;
    try {
      RowFile file;
      switch (RowFile.open(format, body, NEEDED)) {
        case RowFile.Opened.Refused(String detail) -> {
          return new FileOutcome.HeaderRefused(detail);
        }
        case RowFile.Opened.Sound(RowFile sound) -> file = sound;
      }
      List<Row> chunk = new ArrayList<>();
      RowText text = new RowText();
      while (file.next()) {
        RowFault fault = file.read(text);
        Optional<RowFault> wrong = fault == null ? fault(text) : Optional.of(fault);
        if (wrong.isPresent()) {
          bad.add(new FileOutcome.BadRow(file.line(), wrong.get()));
        } else {
          chunk.add(row(file.line(), text));
        }
        if (chunk.size() + bad.size() >= CHUNK_ROWS) {
          settle(chunk);
          settled = file.line();
          chunk.clear();
        }
      }
      settle(chunk);
    } catch (IOException broken) {
      return new FileOutcome.Stopped(false, settled);
    } catch (DatabaseUnavailable gone) {
      return new FileOutcome.Stopped(true, settled);
    }
    return new FileOutcome.Done(created, existing, refused, errors);
  }

  /** The rows of a chunk, and the bad ones among them in the order of their lines. */
  private void settle(List<Row> chunk) {
    if (!chunk.isEmpty()) {
      FileImportStore.Settled settled = store.settle(List.copyOf(chunk));
      created += settled.created();
      existing += settled.existing();
      bad.addAll(settled.refused());
    }
    refused += bad.size();
    bad.stream()
        .sorted(Comparator.comparingLong(FileOutcome.BadRow::line))
        .limit(errorsMax - errors.size())
        .forEach(errors::add);
    bad.clear();
  }

  private static Optional<RowFault> fault(RowText text) {
    String legacy = text.get(Column.LEGACY_ID);
    String createdAt = text.get(Column.CREATED_AT);
    if (text.get(Column.KEY) != null || text.get(Column.PUBLIC_ID) != null) {
      return Optional.of(RowFault.FIELD_UNKNOWN);
    }
    if (legacy == null) {
      return Optional.of(RowFault.LEGACY_ID_MISSING);
    }
    if (!AliasScheme.LEGACY.accepts(legacy)) {
      return Optional.of(RowFault.LEGACY_ID_MALFORMED);
    }
    return createdAt != null && Timestamps.parse(createdAt).isEmpty()
        ? Optional.of(RowFault.CREATED_AT_MALFORMED)
        : Optional.empty();
  }

  private static Row row(long line, RowText text) {
    return new Row(
        line,
        Long.parseLong(String.valueOf(text.get(Column.LEGACY_ID))),
        Optional.ofNullable(text.get(Column.CREATED_AT)).flatMap(Timestamps::parse));
  }
}
