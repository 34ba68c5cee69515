package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.session.LockWait;
import dev.coatcheck.postgres.session.LockWait.BlockingSession;
import dev.coatcheck.postgres.sql.LockTimeout;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Changes a table without blocking its writers. A statement waits for its lock for at most two
 * fifths of the server's {@code deadlock_timeout}: after a longer wait the server could end the
 * writer that blocks it. Then it pauses, so that writers proceed, and tries again.
 */
public final class Ddl {
  private static final int TRIES_MAX = 20;
  private static final long PAUSE_MILLIS_MIN = 100;
  private static final long PAUSE_MILLIS_MAX = 2_000;

  /** The lock modes that a statement may wait for, the weakest first. */
  private static final List<String> ALL =
      List.of(
          "AccessShareLock",
          "RowShareLock",
          "RowExclusiveLock",
          "ShareUpdateExclusiveLock",
          "ShareLock",
          "ShareRowExclusiveLock",
          "ExclusiveLock",
          "AccessExclusiveLock");

  /** The lock modes that an index build waits for. */
  private static final List<String> BUILDERS = from("ShareUpdateExclusiveLock");

  private final DdlStore store;
  private final SourceSession session;
  private final Target target;
  private final LongConsumer pause;

  /**
   * Changes the target's table.
   *
   * @param pause waits for some milliseconds, or throws to give up
   */
  public Ddl(SourceSession session, Target target, LongConsumer pause) {
    this.store = new DdlStore(session.session(), target);
    this.session = session;
    this.target = target;
    this.pause = pause;
  }

  /** Whether the new keys are the primary key. */
  public boolean isSwitched() {
    return store.isTrue(SwitchSteps.hasNewPrimaryKey(target));
  }

  public boolean isApplied(Step.Ddl step) {
    return store.isTrue(step.check());
  }

  public StepOutcome apply(Step.Ddl step) {
    return run(step.name(), step.statements());
  }

  public StepOutcome undo(Step.Ddl step) {
    return isApplied(step) ? run(step.name(), step.undoStatements()) : new StepOutcome.Done();
  }

  /**
   * Ensures that every row has a key from now on.
   *
   * @param fill gives rows without a key theirs, or returns why that is impossible
   */
  public StepOutcome apply(Step.NotNullCheck step, Supplier<Optional<String>> fill) {
    return new NotNullCheckInstaller(this, store, step, fill).apply();
  }

  public boolean isThere(Step.NotNullCheck step) {
    return store.isTrue(step.isThere());
  }

  public StepOutcome undo(Step.NotNullCheck step) {
    return isThere(step) ? run(step.name(), step.undoStatements()) : new StepOutcome.Done();
  }

  /**
   * Builds the index unless it is valid, after dropping the leftover of a failed build. Waits while
   * others build indexes on the table.
   */
  public void build(Step.Index step) {
    switch (store.state(step)) {
      case VALID -> {}
      case INVALID -> {
        var _ = drop(step);
        create(step);
      }
      case MISSING -> create(step);
    }
  }

  private void create(Step.Index step) {
    awaitTurn(step);
    String options =
        step.options().stream()
            .flatMap(query -> store.texts(query).stream())
            .collect(Collectors.joining());
    store.alone(step.name(), step.create().replace(Step.Index.OPTIONS, options));
  }

  public boolean isValid(Step.Index step) {
    return store.state(step) == DdlStore.IndexState.VALID;
  }

  /** Drops the index, after the foreign keys that are bound to it. */
  public StepOutcome drop(Step.Index step) {
    if (!step.release().isEmpty() && isThere(step)) {
      StepOutcome released = run(step.name(), step.release());
      if (!(released instanceof StepOutcome.Done)) {
        return released;
      }
    }
    awaitTurn(step);
    store.alone(step.name(), step.drop());
    return new StepOutcome.Done();
  }

  /** Builds the index if an undo needs it, otherwise drops it. */
  public StepOutcome undo(Step.Spare step) {
    if (!store.isTrue(step.isNeeded())) {
      return drop(step.index());
    }
    build(step.index());
    return new StepOutcome.Done();
  }

  /** Takes no lock if there is nothing to merge. */
  public StepOutcome apply(Step.Merge step) {
    return store.isTrue(step.isOpen())
        ? run(step.name(), step.statements())
        : new StepOutcome.Done();
  }

  /** Each foreign key in its own transaction, because the server reads all rows for it. */
  public StepOutcome apply(Step.Validate step) {
    for (String statement : store.texts(step.open())) {
      if (run(step.name(), List.of(statement)) instanceof StepOutcome.Failed failed) {
        return failed;
      }
    }
    return new StepOutcome.Done();
  }

  /** From now on the triggers archive too. */
  public StepOutcome begin(Step.Archive step) {
    return run(step.name(), step.begin());
  }

  /** The triggers stop archiving. */
  public StepOutcome end(Step.Archive step) {
    return run(step.name(), step.end());
  }

  /**
   * From now on, the step that drops the old columns is refused in this session if one of the
   * triggers that keep them in step was off in between.
   */
  public void rememberTriggers() {
    List<String> _ = store.texts(new ContractSteps(target).rememberTriggers());
  }

  /** Whether the source has the index, even an unusable part of it. */
  public boolean isThere(Step.Index step) {
    return store.state(step) != DdlStore.IndexState.MISSING;
  }

  /**
   * A build that waits in the server's queue for another build's lock would hold a snapshot that
   * the other build waits for, and the server would end one of the two.
   */
  private void awaitTurn(Step.Index step) {
    try {
      for (int tried = 1; !isMyTurn(step); tried++) {
        session.waitsFor(
            Optional.of(
                new LockWait(
                    step.name(), "waiting for its turn on the table", store.blockers(BUILDERS))));
        pause(tried);
      }
    } finally {
      session.waitsFor(Optional.empty());
    }
  }

  private boolean isMyTurn(Step.Index step) {
    try {
      var _ = store.run(step.name(), List.of(step.turn()));
      return true;
    } catch (LockTimeout others) {
      return false;
    }
  }

  StepOutcome run(String name, List<String> statements) {
    return run(name, statements, TRIES_MAX);
  }

  /** Retries without limit, because what stays on the table would harm writers. */
  void takeOff(String name, List<String> statements) {
    var _ = run(name, statements, Integer.MAX_VALUE);
  }

  /** The lock modes of others that keep a transaction from its first lock on a table. */
  private static List<String> blocking(List<String> statements) {
    String first =
        statements.stream()
            .filter(LockTime.Watch::locks)
            .findFirst()
            .orElse("")
            .toLowerCase(Locale.ROOT);
    if (first.contains(" validate constraint ")) {
      return BUILDERS;
    }
    return first.contains(" in share ") ? from("RowExclusiveLock") : ALL;
  }

  private static List<String> from(String weakest) {
    return ALL.subList(ALL.indexOf(weakest), ALL.size());
  }

  /**
   * Postgres ends an autovacuum only for a wait that exceeds {@code deadlock_timeout}, as none of
   * ours does, so the tries beside one don't count. They do where a time window may close. Any
   * session can call itself so, but only processes of the server itself have no user.
   */
  private static boolean awaitsVacuum(String name, List<BlockingSession> blockers) {
    return !name.equals(Step.PRIMARY_KEY)
        && blockers.stream()
            .anyMatch(one -> one.user() == null && "autovacuum worker".equals(one.application()));
  }

  private StepOutcome run(String name, List<String> statements, int triesMax) {
    try {
      for (int tried = 1; ; ) {
        try {
          return new StepOutcome.Done(store.run(name, statements));
        } catch (DdlStore.Refused refused) {
          return new StepOutcome.Failed(String.valueOf(refused.getMessage()), true);
        } catch (LockTimeout blocked) {
          List<BlockingSession> blockers = store.blockers(blocking(statements));
          boolean awaitsVacuum = awaitsVacuum(name, blockers);
          if (tried == triesMax && !awaitsVacuum) {
            return blocked(name, tried, blockers);
          }
          String event =
              awaitsVacuum
                  ? "waiting for the autovacuum of the table to end"
                  : "waiting for its lock on the table";
          session.waitsFor(Optional.of(new LockWait(name, event, blockers)));
          pause(awaitsVacuum ? TRIES_MAX : tried);
          tried += awaitsVacuum ? 0 : 1;
        }
      }
    } finally {
      session.waitsFor(Optional.empty());
    }
  }

  private static StepOutcome blocked(String name, int tries, List<BlockingSession> blockers) {
    String holders = blockers.stream().map(BlockingSession::text).collect(Collectors.joining("; "));
    return new StepOutcome.Failed(
        "%s did not get its lock in %d tries. Held by: %s. Retry when these sessions end."
            .formatted(name, tries, holders));
  }

  private void pause(int tried) {
    long most = Math.min(PAUSE_MILLIS_MAX, PAUSE_MILLIS_MIN << Math.min(tried, TRIES_MAX));
    pause.accept(ThreadLocalRandom.current().nextLong(PAUSE_MILLIS_MIN, most + 1));
  }
}
