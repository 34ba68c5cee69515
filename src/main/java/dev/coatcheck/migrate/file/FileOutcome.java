package dev.coatcheck.migrate.file;

import dev.coatcheck.bulk.rows.RowFault;
import dev.coatcheck.migrate.run.RunState;
import java.util.List;

/** What became of a file. */
public sealed interface FileOutcome {
  /** A row that was set aside. */
  record BadRow(long line, RowFault fault) {}

  /**
   * All lines were read; what was not refused is committed.
   *
   * @param existing those that had a key already
   * @param errors the refused ones, the first of them if they are many
   */
  record Done(long created, long existing, long refused, List<BadRow> errors)
      implements FileOutcome {
    public Done {
      errors = List.copyOf(errors);
    }
  }

  /** Its first line names other columns. Nothing was done. */
  record HeaderRefused(String detail) implements FileOutcome {}

  /** The run was started. */
  record NotNow(RunState state) implements FileOutcome {}

  record NotFound() implements FileOutcome {}

  /** It ended early; up to the line all is done, and sending the file again is harmless. */
  record Stopped(boolean databaseGone, long linesSettled) implements FileOutcome {}
}
