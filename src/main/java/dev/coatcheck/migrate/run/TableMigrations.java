package dev.coatcheck.migrate.run;

import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.redirect.LegacySource;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.backfill.SetAside;
import dev.coatcheck.migrate.inspect.Diagnostic;
import dev.coatcheck.migrate.inspect.Precondition;
import dev.coatcheck.migrate.relay.ActiveTables;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.relay.ReadThrough;
import dev.coatcheck.migrate.run.RunStore.Decision;
import dev.coatcheck.migrate.run.TableMigration.StepStatus;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.migrate.throttle.ThrottleSettings;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.Database;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * What people do with table migrations. Every action is recorded with who did it; the work itself
 * is done by whichever instance gets hold of the run.
 */
public final class TableMigrations implements LegacySource, AutoCloseable {
  /** In one answer. */
  public static final int EVENTS_MAX = 1_000;

  /** For an action that looks at the source first: the gateway's rows are written after that. */
  private static final Duration LOOK_MAX = Duration.ofSeconds(60);

  private final RunStore store;
  private final Planner planner;
  private final StepStore steps;
  private final EventStore events;
  private final ActiveTables active;
  private final Leftovers leftovers;
  private final ReadThrough readThrough;
  private final Runners runners;

  private TableMigrations(
      RunStore store,
      StepStore steps,
      EventStore events,
      Planner planner,
      ActiveTables active,
      Leftovers leftovers,
      ReadThrough readThrough,
      Runners runners) {
    this.store = store;
    this.steps = steps;
    this.events = events;
    this.planner = planner;
    this.active = active;
    this.leftovers = leftovers;
    this.readThrough = readThrough;
    this.runners = runners;
  }

  /**
   * Who asks for something, and under which Idempotency-Key.
   *
   * @param actor a principal, or the name of an instance
   * @param once set if the request may be sent again under a key
   */
  public record Asked<T>(String actor, Optional<IdempotentCall<T>> once) {
    /** Without a key: each request counts. */
    public static <T> Asked<T> by(String actor) {
      return new Asked<>(actor, Optional.empty());
    }
  }

  /**
   * Wires them and starts this instance's share of the work.
   *
   * @param gateway where runs and mappings lie
   * @param holder names this instance
   */
  public static TableMigrations start(
      Database gateway,
      Sources sources,
      Registry registry,
      TokenSource tokens,
      Observer observer,
      String holder) {
    RunStore store = new RunStore(gateway);
    StepStore steps = new StepStore(gateway);
    EventStore events = new EventStore(gateway);
    GatewayMappings mappings = new GatewayMappings(gateway, registry, tokens, observer);
    Workshop workshop =
        new Workshop(store, steps, events, new LeaseStore(gateway), mappings, holder);
    ActiveTables active =
        new ActiveTables(() -> store.occupying().stream().map(steps::active).toList());
    return new TableMigrations(
        store,
        steps,
        events,
        new Planner(store, events, sources),
        active,
        new Leftovers(store, sources),
        new ReadThrough(active, sources, mappings),
        Runners.start(workshop, sources, active));
  }

  /** Looks at the table and writes down what would be done; changes nothing. */
  public IdempotentResult<PlanOutcome> plan(PlanRequest request, Asked<PlanOutcome> asked) {
    return planner.plan(request, asked);
  }

  public Optional<TableMigration> find(long id) {
    return store.find(id);
  }

  /** The last hundred, newest first. */
  public List<TableMigration> list() {
    return store.list();
  }

  public List<StepStatus> steps(long id) {
    return steps.steps(id);
  }

  /** The first hundred rows that are still to be filled. */
  public List<SetAside> setAside(long id) {
    return store.setAside(id);
  }

  /** At most a thousand after a number, oldest first. */
  public List<RunEvent> events(long id, long after) {
    return events.events(id, after, EVENTS_MAX);
  }

  /**
   * Begins, if the table is still as it was planned.
   *
   * @param accepted the codes of preconditions that the application meets
   */
  public IdempotentResult<ActionOutcome> start(
      long id, List<String> accepted, Asked<ActionOutcome> asked) {
    return store
        .answered(asked)
        .orElseGet(() -> Deadline.after(LOOK_MAX).call(() -> startAnew(id, accepted, asked)));
  }

  private IdempotentResult<ActionOutcome> startAnew(
      long id, List<String> accepted, Asked<ActionOutcome> asked) {
    Optional<ActionOutcome> refusal = refusal(id, accepted);
    return act(
        id,
        asked,
        EnumSet.of(RunState.PLANNED),
        run -> {
          if (refusal.isPresent()) {
            return new Decision.Refuse(refusal.get());
          }
          return new Decision.Change(
              run.accepting(accepted).with(run.status().to(RunState.RUNNING).occupying(true)),
              "start",
              "accepted: " + String.join(", ", accepted));
        });
  }

  /** What speaks against a start; looked at before the run is locked. */
  private Optional<ActionOutcome> refusal(long id, List<String> accepted) {
    if (store.hasImported(id)) {
      return Optional.of(
          new ActionOutcome.NotNow(
              RunState.PLANNED,
              "The keys of this run came from a file. Plan another run to install triggers."));
    }
    return store
        .find(id)
        .filter(run -> run.status().state() == RunState.PLANNED)
        .flatMap(run -> refusal(run, accepted));
  }

  private Optional<ActionOutcome> refusal(TableMigration run, List<String> accepted) {
    List<Diagnostic> findings = planner.refusals(run);
    if (!findings.isEmpty()) {
      return Optional.of(new ActionOutcome.Refused(findings));
    }
    List<Diagnostic> missing =
        run.plan().preconditions().stream()
            .filter(condition -> !accepted.contains(condition.code()))
            .map(Precondition::finding)
            .toList();
    return missing.isEmpty()
        ? planner.trial(run, accepted).map(failed -> new ActionOutcome.Refused(List.of(failed)))
        : Optional.of(new ActionOutcome.NotAccepted(missing));
  }

  public IdempotentResult<ActionOutcome> pause(long id, Asked<ActionOutcome> asked) {
    return move(id, asked, EnumSet.of(RunState.RUNNING), RunState.PAUSED, "pause");
  }

  public IdempotentResult<ActionOutcome> resume(long id, Asked<ActionOutcome> asked) {
    return forward(id, asked, EnumSet.of(RunState.PAUSED), "resume");
  }

  /** Tries again what failed. */
  public IdempotentResult<ActionOutcome> retry(long id, Asked<ActionOutcome> asked) {
    return move(id, asked, EnumSet.of(RunState.FAILED), RunState.RUNNING, "retry");
  }

  /** Ends it for good where it is; what it left on the table can then be undone. */
  public IdempotentResult<ActionOutcome> cancel(long id, Asked<ActionOutcome> asked) {
    return move(
        id,
        asked,
        EnumSet.of(RunState.PLANNED, RunState.RUNNING, RunState.PAUSED, RunState.FAILED),
        RunState.CANCELLED,
        "cancel");
  }

  /** Compares source and mappings; the report is part of the run. */
  public IdempotentResult<ActionOutcome> verify(long id, Asked<ActionOutcome> asked) {
    return act(
        id,
        asked,
        EnumSet.of(RunState.PAUSED, RunState.FAILED, RunState.DONE),
        run ->
            occupying(
                run,
                new Decision.Change(
                    run.with(
                        run.status().to(RunState.RUNNING).towards(Goal.VERIFY, Optional.empty())),
                    "verify",
                    "")));
  }

  /** Undoes a phase and all that came after it. */
  public IdempotentResult<ActionOutcome> undo(long id, Phase phase, Asked<ActionOutcome> asked) {
    return act(
        id,
        asked,
        EnumSet.complementOf(EnumSet.of(RunState.PLANNED)),
        run ->
            occupying(
                run,
                new Decision.Change(
                    run.with(
                        run.status().to(RunState.RUNNING).towards(Goal.UNDO, Optional.of(phase))),
                    "undo",
                    "from " + phase.wireName() + " on")));
  }

  /**
   * Takes what an undo left from the source: the archive of the run's table, and our schema with
   * the last one. No further run can be planned for the type, because it would give the rows other
   * keys than their public IDs have.
   */
  public IdempotentResult<ActionOutcome> forget(long id, Asked<ActionOutcome> asked) {
    return store
        .answered(asked)
        .orElseGet(() -> Deadline.after(LOOK_MAX).call(() -> forgetAnew(id, asked)));
  }

  private IdempotentResult<ActionOutcome> forgetAnew(long id, Asked<ActionOutcome> asked) {
    Optional<Leftovers.Outcome> outcome = store.find(id).map(leftovers::drop);
    return act(
        id,
        asked,
        EnumSet.allOf(RunState.class),
        run ->
            switch (outcome.orElseThrow()) {
              case Leftovers.Outcome.Dropped(String what) ->
                  new Decision.Change(run, "forget", what);
              case Leftovers.Outcome.Needed(String why) ->
                  new Decision.Refuse(new ActionOutcome.NotNow(run.status().state(), why));
            });
  }

  /** Changes the throttle settings, also while it runs. */
  public IdempotentResult<ActionOutcome> set(
      long id, Function<ThrottleSettings, ThrottleSettings> change, Asked<ActionOutcome> asked) {
    return act(
        id,
        asked,
        EnumSet.allOf(RunState.class),
        run -> {
          ThrottleSettings throttleSettings = change.apply(run.throttleSettings());
          return new Decision.Change(
              run.with(throttleSettings), "set", RunStore.json(throttleSettings));
        });
  }

  /** Records something that was done beside the run. */
  public void note(long id, String actor, String kind, String detail) {
    events.event(id, actor, kind, detail);
  }

  @Override
  public boolean isFilling(Type type) {
    return readThrough.isFilling(type);
  }

  @Override
  public boolean fillOnDemand(Type type, long number) {
    return readThrough.fillOnDemand(type, number);
  }

  @Override
  public void close() {
    runners.close();
  }

  private static Decision occupying(TableMigration run, Decision decision) {
    return run.status().occupies()
        ? decision
        : new Decision.Refuse(
            new ActionOutcome.NotNow(
                run.status().state(), "Nothing of the run is on the table. Plan another run."));
  }

  private IdempotentResult<ActionOutcome> forward(
      long id, Asked<ActionOutcome> asked, Set<RunState> from, String kind) {
    return act(
        id,
        asked,
        from,
        run ->
            new Decision.Change(
                run.with(run.status().to(RunState.RUNNING).towards(Goal.FORWARD, Optional.empty())),
                kind,
                ""));
  }

  private IdempotentResult<ActionOutcome> move(
      long id, Asked<ActionOutcome> asked, Set<RunState> from, RunState to, String kind) {
    return act(
        id, asked, from, run -> new Decision.Change(run.with(run.status().to(to)), kind, ""));
  }

  private IdempotentResult<ActionOutcome> act(
      long id,
      Asked<ActionOutcome> asked,
      Set<RunState> from,
      Function<TableMigration, Decision> decider) {
    IdempotentResult<ActionOutcome> result =
        store.decide(
            id,
            asked,
            run ->
                from.contains(run.status().state())
                    ? decider.apply(run)
                    : new Decision.Refuse(
                        new ActionOutcome.NotNow(
                            run.status().state(), "Possible when " + names(from))));
    switch (result) {
      case IdempotentResult.Unkeyed<ActionOutcome> _, IdempotentResult.Answered<ActionOutcome> _ ->
          active.refresh();
      case IdempotentResult.KeyReused<ActionOutcome> _, IdempotentResult.Busy<ActionOutcome> _ -> {}
    }
    return result;
  }

  private static String names(Set<RunState> states) {
    List<String> names = new ArrayList<>(states.stream().map(RunState::wireName).toList());
    String last = names.removeLast();
    return (names.isEmpty() ? last : String.join(", ", names) + " or " + last) + ".";
  }
}
