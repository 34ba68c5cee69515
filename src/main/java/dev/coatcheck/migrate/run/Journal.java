package dev.coatcheck.migrate.run;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.run.LeaseTable.Claim;
import dev.coatcheck.migrate.run.TableMigration.StepStatus;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.table.OwnObjectsTable.Extent;
import dev.coatcheck.migrate.table.SetAside;
import dev.coatcheck.migrate.table.Step;
import dev.coatcheck.migrate.verify.Report;
import dev.coatcheck.postgres.sql.Database;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The runs as they are written down, and what this instance adds. What people ask of runs is
 * written by {@link ActionTable}.
 */
public final class Journal {
  /** In one answer of {@link #events}. */
  public static final int EVENTS_MAX = 1_000;

  /** In one answer of {@link #list} or {@link #setAside}. */
  public static final int LISTED_MAX = 100;

  private final RunStore runs;
  private final StepStore steps;
  private final EventStore events;
  private final SetAsideStore setAside;
  private final ActionTable actions;
  private final Observer observer;
  private final String holder;

  /**
   * Reads and writes in the gateway's database.
   *
   * @param holder names this instance in events
   */
  public Journal(Database gateway, Observer observer, String holder) {
    this.runs = new RunStore(gateway);
    this.steps = new StepStore(gateway);
    this.events = new EventStore(gateway);
    this.setAside = new SetAsideStore(gateway);
    this.actions = new ActionTable(gateway);
    this.observer = observer;
    this.holder = holder;
  }

  public Optional<TableMigration> find(long id) {
    return runs.find(id);
  }

  /** The last hundred runs, newest first. */
  public List<TableMigration> list() {
    return runs.list();
  }

  /** All runs of a table, in every state. */
  public List<TableMigration> of(String source, TableName table) {
    return runs.of(source, table);
  }

  /** Whether a run of the type has something on its table. */
  public boolean occupies(int typeNumber) {
    return runs.occupying().stream().anyMatch(run -> run.typeNumber() == typeNumber);
  }

  /** Whether the rows of a table have keys of the type alone, also after a retirement. */
  public boolean hasContracted(int typeNumber) {
    return events.isThere("contracted", typeNumber);
  }

  /** The tables that runs have something on. */
  public List<ActiveTable> activeTables() {
    return runs.occupying().stream().map(steps::active).toList();
  }

  /** Whether a file gave keys for the run. */
  public boolean hasImported(long id) {
    return runs.hasImported(id);
  }

  /** Whether keys that public IDs of the type have were forgotten at their source. */
  public boolean hasForgotten(int typeNumber) {
    return events.isThere("forget", typeNumber);
  }

  public List<StepStatus> steps(long id) {
    return steps.steps(id);
  }

  public StepStates states(long id) {
    return new StepStates(steps(id));
  }

  /** Which objects of a run have to be in its source. */
  public Extent extent(TableMigration run) {
    List<StepStatus> steps = steps(run.id());
    if (StepStatus.ofExpand(steps, Step.DUAL_WRITE).isApplied()) {
      return Extent.ON_TABLE;
    }
    return StepStatus.ofExpand(steps, Step.PREPARE).isApplied() ? Extent.PREPARED : Extent.NONE;
  }

  /** The first hundred rows that are still to be filled. */
  public List<SetAside> setAside(long id) {
    return setAside.rows(id);
  }

  /** At most a thousand after a number, oldest first. */
  public List<RunEvent> events(long id, long after) {
    return events.events(id, after, EVENTS_MAX);
  }

  /** Records what an actor did to a run from outside, such as an import of its mappings. */
  public void note(long id, String actor, String kind, String detail) {
    events.event(id, actor, kind, detail);
  }

  /** Records what this instance did or met. */
  public void event(TableMigration run, String kind, String detail) {
    event(run.id(), run.target(), kind, detail);
  }

  /** The same for a run of which only the table is known. */
  public void event(long id, Target target, String kind, String detail) {
    events.event(id, holder, kind, detail);
    observer.observe(new Event.TableMigrated(target.table().text(), kind, detail));
  }

  /** Records the state of a step, with an error if it failed. */
  public void step(TableMigration run, Step step, StepState state, Optional<String> error) {
    steps.step(run.id(), step, state, error);
  }

  /** Keeps the names that a table has now, with one event for each change. */
  public void renamed(long id, Target before, Target now) {
    String detail =
        "The table is %s now, and its key %s.".formatted(now.table().text(), now.keyColumn());
    if (runs.renamed(id, before, now, holder, detail)) {
      observer.observe(new Event.TableMigrated(now.table().text(), "renamed", detail));
    }
  }

  /** Keeps the first of the rows that are set aside, unless another runner has taken over. */
  public void setAside(Claim claim, List<SetAside> rows) {
    setAside.replace(claim, rows);
  }

  /** Every row has a key: from now on those count that look-ups had filled ahead. */
  public void filled(TableMigration run) {
    runs.filled(run.id());
  }

  /**
   * The last switch of a run.
   *
   * @param calls of the applications' statements before it, by their IDs
   */
  public record Switched(Instant at, Map<String, Long> calls) {}

  public void switched(TableMigration run, Map<String, Long> calls) {
    runs.switched(run.id(), calls);
  }

  public Optional<Switched> switched(long id) {
    return runs.switched(id);
  }

  /** Keeps the children that a run takes along from now on. */
  public void children(TableMigration run, List<Child> children) {
    runs.children(run.id(), children);
  }

  public void report(TableMigration run, Report report) {
    runs.report(run.id(), RunRowTable.json(report));
  }

  /** Ends the goal of a runner, unless a caller has set another goal since. */
  public void settle(TableMigration run, RunState state, String kind, String detail) {
    IdempotentResult<ActionOutcome> result =
        actions.decide(
            run.id(),
            ActionRequest.by(holder),
            now -> {
              if (now.status().state() != RunState.RUNNING
                  || now.status().goal() != run.status().goal()) {
                return new Decision.Refuse(
                    new ActionOutcome.NotNow(now.status().state(), "It was stopped."));
              }
              TableMigration.Status next = now.status().to(state);
              return new Decision.Change(
                  now.with(state == RunState.FAILED ? next.because(detail) : next), kind, detail);
            });
    if (result instanceof IdempotentResult.Unkeyed<ActionOutcome>(ActionOutcome.Done _)) {
      observer.observe(new Event.TableMigrated(run.target().table().text(), kind, detail));
    }
  }

  /** Ends an undo of everything: nothing of the run is on the table any more. */
  public void undone(TableMigration run) {
    setAside.clear(run.id());
    var _ =
        actions.decide(
            run.id(),
            ActionRequest.by(holder),
            now ->
                new Decision.Change(
                    now.with(now.status().to(RunState.CANCELLED).occupying(false)),
                    "undone",
                    "Nothing of the run is on the table; the archive keeps the keys."));
  }
}
