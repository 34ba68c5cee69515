package dev.coatcheck.migrate.steps;

import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.LockTimeout;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongConsumer;

/**
 * Changes a table under the lock rules: a statement waits for its lock for at most half of the
 * server's {@code deadlock_timeout}, or a writer that is in our way would be the one that the
 * server ends, and is tried again after a pause, so that writers get through in between.
 */
public final class Ddl {
  private static final int TRIES_MAX = 20;
  private static final long PAUSE_MILLIS_MIN = 100;
  private static final long PAUSE_MILLIS_MAX = 2_000;

  private final DdlStore store;
  private final LongConsumer pause;

  /**
   * Changes the target's table.
   *
   * @param pause waits for some milliseconds, or throws to give up
   */
  public Ddl(SourceSession session, Target target, LongConsumer pause) {
    this.store = new DdlStore(session.session(), target);
    this.pause = pause;
  }

  /** What became of a change. */
  public sealed interface Outcome {
    record Done() implements Outcome {}

    /**
     * Others held the table all the time, and nothing was changed.
     *
     * @param blockers who they are, as far as the server tells
     */
    record Blocked(int tries, List<String> blockers) implements Outcome {}
  }

  public boolean isApplied(Step.Ddl step) {
    return store.isTrue(step.check());
  }

  public Outcome apply(Step.Ddl step) {
    return run(step.name(), step.statements());
  }

  public Outcome undo(Step.Ddl step) {
    return isApplied(step) ? run(step.name(), step.undoStatements()) : new Outcome.Done();
  }

  /** Builds it, unless it stands; what a failed attempt left behind is dropped first. */
  public void build(Step.Index step) {
    switch (store.index(step.index())) {
      case VALID -> {}
      case INVALID -> {
        store.alone(step.name(), step.drop());
        store.alone(step.name(), step.create());
      }
      case MISSING -> store.alone(step.name(), step.create());
    }
  }

  public boolean isValid(Step.Index step) {
    return store.index(step.index()) == DdlStore.IndexState.VALID;
  }

  public void drop(Step.Index step) {
    store.alone(step.name(), step.drop());
  }

  /** From now on the triggers archive as well. */
  public Outcome begin(Step.Archive step) {
    return run(step.name(), step.undoStatements());
  }

  /** Whether something of it is in the source, be it a part that is of no use. */
  public boolean isThere(Step.Index step) {
    return store.index(step.index()) != DdlStore.IndexState.MISSING;
  }

  private Outcome run(String name, List<String> statements) {
    for (int tried = 1; ; tried++) {
      try {
        store.run(name, statements);
        return new Outcome.Done();
      } catch (LockTimeout blocked) {
        if (tried == TRIES_MAX) {
          return new Outcome.Blocked(tried, store.blockers());
        }
        long most = Math.min(PAUSE_MILLIS_MAX, PAUSE_MILLIS_MIN << tried);
        pause.accept(ThreadLocalRandom.current().nextLong(PAUSE_MILLIS_MIN, most + 1));
      }
    }
  }
}
