package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.RowSummary;
import dev.coatcheck.core.key.KeyOutcome;

public sealed interface ImportOutcome {

  /** All lines were read; what was not refused is committed. */
  record Done(RowSummary summary) implements ImportOutcome {}

  /** The file is empty, or not of the columns that we know. Nothing was done. */
  record HeaderRefused(String detail) implements ImportOutcome {}

  /**
   * It ended early. Sending the whole file again is harmless: rows that were imported count as
   * existing.
   *
   * @param linesSettled up to this line all is committed or refused; nothing after it was done,
   *     unless the database is gone: then the outcome of a later commit may be unknown
   */
  record Stopped(Reason reason, long linesSettled) implements ImportOutcome {}

  /** Why it ended early. */
  sealed interface Reason {
    /** The sender went away or sent less than announced. */
    record BodyBroken() implements Reason {}

    record DatabaseGone() implements Reason {}

    /** The sender may not import any more. */
    record AccessEnded() implements Reason {}

    /** There are no keys for the rows that bring none. */
    record KeysUnavailable(KeyOutcome.NoKeys why) implements Reason {}

    /** What a legacy ID of a row stands for can't be told here. */
    record SealKeyMissing(String fingerprint) implements Reason {}
  }
}
