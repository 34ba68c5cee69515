package dev.coatcheck.migrate.table;

import java.util.Optional;

public sealed interface StepOutcome {
  /**
   * The table has the step.
   *
   * @param locks those that blocked writers, if the step took any
   */
  record Done(Optional<LockTime> locks) implements StepOutcome {
    public Done() {
      this(Optional.empty());
    }
  }

  /**
   * The table may have a part of the step, for a retry or an undo; the reason says what to do.
   *
   * @param isRefused whether a precondition is not met: what was verified before may be wrong now
   */
  record Failed(String reason, boolean isRefused) implements StepOutcome {
    public Failed(String reason) {
      this(reason, false);
    }
  }

  static StepOutcome of(Optional<String> failure) {
    return failure.<StepOutcome>map(Failed::new).orElseGet(Done::new);
  }
}
