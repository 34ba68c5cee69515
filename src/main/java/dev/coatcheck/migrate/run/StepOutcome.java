package dev.coatcheck.migrate.run;

import java.util.Optional;

/** The outcome of a step. */
sealed interface StepOutcome {
  record Done() implements StepOutcome {}

  record Failed(String reason) implements StepOutcome {}

  /** Done, unless there is a reason why it failed. */
  static StepOutcome of(Optional<String> failure) {
    return failure.<StepOutcome>map(Failed::new).orElseGet(Done::new);
  }
}
