package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.run.Transition.Decision;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.table.Outbox;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.Steps;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Removes what a contracted run keeps on its table: the triggers, and, once the outbox is empty,
 * the outbox and the number source. The archive stays until it is forgotten.
 */
public final class Retirement {
  private static final int TRIES_MAX = 20;

  private static final String MAPPINGS =
      "New rows get no mapping by themselves any more: POST /v1/ids with the type and the key of a"
          + " row makes its public ID.";
  private static final String NOT_KEPT =
      "A key that the application changes is no longer put back.";

  private static final List<String> WITHOUT_KEYS =
      List.of(
          MAPPINGS,
          "An insert without a key fails: the application brings it, for instance from POST"
              + " /v1/ids or POST /v1/keys.",
          NOT_KEPT);

  private static final List<String> WITH_FUNCTION =
      List.of(
          MAPPINGS,
          "The column of the keys gets a function beside the table as its default. The function"
              + " gives keys of the worker 1023, which no gateway leases; so use it for this table"
              + " alone.",
          "The function and its sequence go to the owner of the table, who needs CREATE on the"
              + " schema of the table meanwhile.",
          "The roles that may insert into the table now may call the function. Grant EXECUTE to"
              + " roles that get INSERT later.",
          "An insert with NULL as its key fails; leave the column out, or write DEFAULT.",
          NOT_KEPT);

  private final JournalTable journal;
  private final Sources sources;
  private final GatewayMappings gateway;

  public Retirement(JournalTable journal, Sources sources, GatewayMappings gateway) {
    this.journal = journal;
    this.sources = sources;
    this.gateway = gateway;
  }

  /**
   * What a retirement does.
   *
   * @param consequences for applications, in sentences
   * @param statements that it sends, in their order
   */
  public record Plan(NewKeys newKeys, List<String> consequences, List<String> statements) {
    public Plan {
      consequences = List.copyOf(consequences);
      statements = List.copyOf(statements);
    }
  }

  /** Empty for a run that isn't contracted, or is retired already. */
  public Optional<Plan> plan(TableMigration run, NewKeys newKeys) {
    return isPossible(run)
        ? Optional.of(
            new Plan(
                newKeys,
                newKeys == NewKeys.FUNCTION ? WITH_FUNCTION : WITHOUT_KEYS,
                store(run, newKeys).statements()))
        : Optional.empty();
  }

  /**
   * Retires the run, and returns the decision to record: also if a verification has begun
   * meanwhile, for nothing of the run is in the source by then.
   */
  public Function<TableMigration, Decision> retire(long id, NewKeys newKeys) {
    Optional<TableMigration> found = journal.find(id).filter(Retirement::isPossible);
    Optional<Left> left = found.flatMap(run -> retire(run, newKeys));
    return run -> {
      if (found.isEmpty() || !run.status().occupies()) {
        return Decision.refuse(
            run,
            run.status().state() == RunState.CONTRACTED && !run.status().occupies()
                ? "It is retired already."
                : "Only a contracted run is retired. Contract it, or undo it.");
      }
      return left.map(rest -> rest.decision(run))
          .orElseGet(
              () ->
                  new Decision.Change(
                      run.with(run.status().to(run.status().state()).occupying(false)),
                      "retire",
                      "new keys: " + newKeys.wireName()));
    };
  }

  static boolean isPossible(TableMigration run) {
    return run.status().state() == RunState.CONTRACTED && run.status().occupies();
  }

  private RetirementStore store(TableMigration run, NewKeys newKeys) {
    return new RetirementStore(source(run).database(), run.target(), newKeys);
  }

  private Source source(TableMigration run) {
    return sources.ofRun(run.source());
  }

  /**
   * What a retirement did not do.
   *
   * @param areTriggersOff the first part is done: new rows get no mapping
   */
  private record Left(boolean areTriggersOff, String why) {
    Decision decision(TableMigration run) {
      return areTriggersOff
          ? new Decision.Begun(
              "retire",
              "The triggers are off, and the rest is left: " + why,
              new ActionOutcome.Unfinished(
                  "The triggers are off already, so new rows get no mapping. "
                      + why
                      + " Send the request again to finish."))
          : Decision.refuse(run, why);
    }
  }

  /**
   * Empty if everything is done. A repetition skips what is done. The event is there before the
   * triggers go: this gateway may die, and new rows get no mapping from then on.
   */
  private Optional<Left> retire(TableMigration run, NewKeys newKeys) {
    RetirementStore store = store(run, newKeys);
    journal.event(
        run, "retire", "The triggers are about to go; new keys: " + newKeys.wireName() + ".");
    Optional<String> refusal =
        tried(
            store::takeTriggersOff,
            "Another session holds a lock on the table. Send the request again.");
    if (refusal.isPresent()) {
      return refusal.map(why -> new Left(false, why));
    }
    if (store.hasOutbox()) {
      refusal =
          tried(
              () -> {
                drain(run);
                return store.takeRestOff();
              },
              "Another session holds a lock on the outbox, or entries of the outbox could not be"
                  + " brought to the gateway.");
    }
    if (refusal.isEmpty()) {
      Target target = run.target();
      Steps.of(target).stream()
          .filter(step -> step.phase() == Phase.EXPAND)
          .forEach(step -> journal.step(run, step, StepState.UNDONE, Optional.empty()));
    }
    return refusal.map(why -> new Left(true, why));
  }

  /**
   * Tries again while another session has a lock.
   *
   * @param late why it failed if that does not end
   */
  private static Optional<String> tried(Supplier<Optional<String>> work, String late) {
    for (int tries = 1; ; tries++) {
      try {
        return work.get();
      } catch (DatabaseUnavailable blocked) {
        if (!SqlState.isLockTimeout(blocked)) {
          throw blocked;
        }
        if (tries == TRIES_MAX || Deadline.current().isOver()) {
          return Optional.of(late);
        }
      }
    }
  }

  /**
   * The triggers are gone, so no entry is added. What another relay is bringing just now keeps a
   * lock for that time, for which the next statements wait.
   */
  private void drain(TableMigration run) {
    Outbox outbox = gateway.outbox(source(run), run.target(), run.typeNumber());
    while (!Deadline.current().isOver() && outbox.drain().entries() > 0) {}
  }
}
