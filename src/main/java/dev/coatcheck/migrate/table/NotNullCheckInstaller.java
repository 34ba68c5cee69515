package dev.coatcheck.migrate.table;

import dev.coatcheck.postgres.sql.LockTimeout;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Adds the check that every row has a key: fills the rows without a key, adds the check for new
 * rows, fills the rows that arrived in between, and lets the server check all rows. A row can
 * arrive without a key while one of our triggers is off, or past all triggers.
 *
 * <p>A check that is not validated refuses the application's updates of rows that violate it. So it
 * is not added while such a row is visible. If a later part fails, the check is dropped before
 * anything else is done. A runner that finds a check of a dead runner drops it first.
 */
final class NotNullCheckInstaller {
  private static final int ROUNDS_MAX = 5;
  private static final int LAST_TRIES_MAX = 5;

  private final Ddl ddl;
  private final DdlStore store;
  private final Step.NotNullCheck step;
  private final Supplier<Optional<String>> fill;

  NotNullCheckInstaller(
      Ddl ddl, DdlStore store, Step.NotNullCheck step, Supplier<Optional<String>> fill) {
    this.ddl = ddl;
    this.store = store;
    this.step = step;
    this.fill = fill;
  }

  StepOutcome apply() {
    if (store.isTrue(step.isApplied())) {
      return new StepOutcome.Done();
    }
    if (store.isTrue(step.isThere())) {
      takeOff();
    }
    for (int tried = 0; tried < ROUNDS_MAX; tried++) {
      Optional<StepOutcome> settled = round();
      if (settled.isPresent()) {
        return settled.get();
      }
    }
    return new StepOutcome.Failed(broken());
  }

  /** Empty if there are rows without a key again. */
  private Optional<StepOutcome> round() {
    long before = highestId();
    Optional<String> open = fill.get();
    if (open.isPresent()) {
      return Optional.of(new StepOutcome.Failed(open.get()));
    }
    long after = highestId();
    if (!brokenAfter(before).isEmpty()) {
      return Optional.empty();
    }
    Optional<StepOutcome> created = create(after);
    if (!isDone(created)) {
      return created;
    }
    Optional<StepOutcome> validated = validated();
    if (!isDone(validated)) {
      takeOff();
    }
    return validated;
  }

  private static boolean isDone(Optional<StepOutcome> round) {
    return round.filter(StepOutcome.Done.class::isInstance).isPresent();
  }

  /** Under the lock, only rows after an ID are checked. */
  private Optional<StepOutcome> create(long afterId) {
    try {
      return Optional.of(ddl.run(step.name(), step.createAfter(afterId)));
    } catch (DdlStore.RowWithoutKey straggler) {
      return Optional.empty();
    }
  }

  private Optional<StepOutcome> validated() {
    try {
      Optional<String> late = fill.get();
      return Optional.of(
          late.isPresent()
              ? new StepOutcome.Failed(late.get())
              : ddl.run(step.name(), List.of(step.validate())));
    } catch (DdlStore.RowWithoutKey straggler) {
      return Optional.empty();
    } catch (RuntimeException stopped) {
      dropAfter(stopped);
      throw stopped;
    }
  }

  private String broken() {
    List<Long> ids = brokenAfter(Long.MIN_VALUE);
    return ids.isEmpty()
        ? "rows came in without a key repeatedly, past the triggers. Retry when the program that"
            + " writes them has stopped"
        : "rows came in without a key, past the triggers, the first with the IDs "
            + ids.stream().map(String::valueOf).collect(Collectors.joining(", "))
            + ". Retry fills them";
  }

  private long highestId() {
    return store.ids(step.name(), step.highest()).getFirst();
  }

  private List<Long> brokenAfter(long id) {
    return store.ids(step.name(), step.broken(), id);
  }

  private void takeOff() {
    ddl.takeOff(step.name(), step.drop());
  }

  /**
   * Doesn't retry for long, because a user wants to stop the run. If the source is gone, the next
   * runner drops the check.
   */
  private void dropAfter(RuntimeException stopped) {
    for (int tried = 1; tried <= LAST_TRIES_MAX; tried++) {
      try {
        var _ = store.run(step.name(), step.drop());
        return;
      } catch (LockTimeout again) {
        stopped.addSuppressed(again);
      } catch (RuntimeException gone) {
        stopped.addSuppressed(gone);
        return;
      }
    }
  }
}
