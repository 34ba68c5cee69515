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

  /** The result of a round. */
  private sealed interface Round {
    record Settled(StepOutcome outcome) implements Round {}

    /** There are rows without a key again. */
    record Overtaken() implements Round {}
  }

  StepOutcome apply() {
    if (store.isTrue(step.isApplied())) {
      return new StepOutcome.Done();
    }
    if (store.isTrue(step.isThere())) {
      takeOff();
    }
    for (int tried = 0; tried < ROUNDS_MAX; tried++) {
      switch (round()) {
        case Round.Settled(StepOutcome outcome) -> {
          return outcome;
        }
        case Round.Overtaken _ -> {}
      }
    }
    return new StepOutcome.Failed(broken());
  }

  private Round round() {
    long before = highestId();
    Optional<String> open = fill.get();
    if (open.isPresent()) {
      return new Round.Settled(new StepOutcome.Failed(open.get()));
    }
    long after = highestId();
    if (!brokenAfter(before).isEmpty()) {
      return new Round.Overtaken();
    }
    return switch (create(after)) {
      case Round.Settled(StepOutcome.Done _) -> {
        Round round = validated();
        if (!(round instanceof Round.Settled(StepOutcome.Done _))) {
          takeOff();
        }
        yield round;
      }
      case Round failed -> failed;
    };
  }

  /** Under the lock, only rows after an ID are checked. */
  private Round create(long afterId) {
    try {
      return new Round.Settled(ddl.run(step.name(), step.createAfter(afterId)));
    } catch (DdlStore.RowWithoutKey straggler) {
      return new Round.Overtaken();
    }
  }

  private Round validated() {
    try {
      Optional<String> late = fill.get();
      return new Round.Settled(
          late.isPresent()
              ? new StepOutcome.Failed(late.get())
              : ddl.run(step.name(), List.of(step.validate())));
    } catch (DdlStore.RowWithoutKey straggler) {
      return new Round.Overtaken();
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
        var _ = store.run(step.name(), List.of(step.drop()));
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
