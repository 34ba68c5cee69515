package dev.coatcheck.bulk.export;

/** How an export ended. */
public enum ExportOutcome {
  DONE,

  /** The reader went away or was too slow; what was written is not all. */
  READER_GONE,

  /** Postgres broke off after it had begun to answer; what was written is not all. */
  DATABASE_GONE
}
