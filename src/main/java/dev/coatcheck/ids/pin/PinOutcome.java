package dev.coatcheck.ids.pin;

import java.util.List;

/** The outcome of pinning some keys. */
public sealed interface PinOutcome {
  /**
   * All keys but the conflicts are pinned. Committed.
   *
   * @param pinned how many are pinned since this call
   * @param present how many had been pinned before
   * @param conflicts the indexes of keys that stay as they are: they got another public ID after
   *     the era was closed, or theirs is erased
   */
  record Pinned(int pinned, int present, List<Integer> conflicts) implements PinOutcome {
    public Pinned {
      conflicts = List.copyOf(conflicts);
    }
  }

  /** No era of the type has the seal key. Nothing was done. */
  record EraUnknown() implements PinOutcome {}

  /**
   * A key is not of the era. Nothing was done.
   *
   * @param index of the key
   */
  record NotOfEra(int index) implements PinOutcome {}

  /** Another transaction is giving one of the keys a public ID. Nothing was done. */
  record Busy() implements PinOutcome {}
}
