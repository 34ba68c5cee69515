package dev.coatcheck.bulk.export;

/** How an export ended. */
public enum ExportOutcome {
  DONE,

  /** The reader disconnected or was too slow; the output is incomplete. */
  READER_GONE,

  /** Postgres failed after its answer had begun; the output is incomplete. */
  DATABASE_GONE
}
