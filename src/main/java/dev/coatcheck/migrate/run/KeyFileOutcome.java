package dev.coatcheck.migrate.run;

import dev.coatcheck.bulk.rows.RowSummary;

public sealed interface KeyFileOutcome {
  /** All lines were read; what was not refused is committed. */
  record Done(RowSummary summary) implements KeyFileOutcome {}

  /** Its first line names other columns. Nothing was done. */
  record HeaderRefused(String detail) implements KeyFileOutcome {}

  /** The run was started. */
  record NotNow(RunState state) implements KeyFileOutcome {}

  /** The type of the run is retired, so it gets no new public IDs. Nothing was done. */
  record TypeRetired() implements KeyFileOutcome {}

  record NotFound() implements KeyFileOutcome {}

  /** It ended early; up to the line all is done, and sending the file again is harmless. */
  record Stopped(Why why, long linesSettled) implements KeyFileOutcome {}

  /** Why a file ended early. */
  enum Why {
    BODY_BROKEN,
    DATABASE_GONE,
    /** The API key ended or lost a right meanwhile. */
    ACCESS_ENDED
  }
}
