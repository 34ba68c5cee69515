package dev.coatcheck.migrate.run;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.mapping.UnmappedRows;
import dev.coatcheck.migrate.plan.PlanRequest;
import dev.coatcheck.migrate.plan.Planner;
import dev.coatcheck.migrate.plan.Proposal;
import dev.coatcheck.migrate.plan.TableSurvey;
import dev.coatcheck.migrate.relay.ActiveTables;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.relay.ReadThrough;
import dev.coatcheck.migrate.run.Transition.Decision;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.connection.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The actions on table migrations. Each is recorded with its actor; the instance that claims the
 * run does the work.
 */
public final class TableMigrations implements AutoCloseable {
  /** For an action that looks at the source first: the gateway's rows are written after that. */
  private static final Duration LOOK_MAX = Duration.ofSeconds(60);

  private final JournalTable journal;
  private final ActionTable actions;
  private final Sources sources;
  private final TableSurvey survey;
  private final ActiveTables active;
  private final ReadThrough readThrough;
  private final Retirement retirement;
  private final Runners runners;
  private final SourceErasures erasures;

  /**
   * Wires them and starts this instance's share of the work.
   *
   * @param feed tells of runs that are to be carried on
   * @param holder names this instance
   */
  public TableMigrations(
      GatewayMappings gateway,
      Sources sources,
      ChangeFeed feed,
      String holder,
      LongSupplier nanoTime) {
    this.journal = new JournalTable(gateway.database(), gateway.observer(), holder);
    this.actions = new ActionTable(gateway.database());
    this.sources = sources;
    this.survey = new TableSurvey(nanoTime);
    this.active = new ActiveTables(journal::activeTables);
    this.retirement = new Retirement(journal, sources, gateway);
    this.readThrough = new ReadThrough(active, sources, gateway);
    this.runners =
        new Runners(
            journal,
            new LeaseTable(gateway.database(), holder),
            gateway,
            sources,
            active,
            feed,
            nanoTime);
    this.erasures =
        new SourceErasures(
            gateway.database(), journal, sources, feed, gateway.observer(), nanoTime);
  }

  /** Looks at the table and writes down what would be done; changes nothing. */
  public IdempotentResult<PlanOutcome> plan(PlanRequest request, ActionRequest<PlanOutcome> asked) {
    return looking(asked, () -> planAnew(request, asked));
  }

  private IdempotentResult<PlanOutcome> planAnew(
      PlanRequest request, ActionRequest<PlanOutcome> asked) {
    Optional<Diagnostic> refusal = check().refusal(request.type());
    if (refusal.isPresent()) {
      return actions.refuse(asked, new PlanOutcome.Refused(List.of(refusal.get())));
    }
    Optional<Source> source = sources.named(request.source());
    if (source.isEmpty()) {
      return actions.refuse(asked, new PlanOutcome.SourceUnknown());
    }
    return switch (new Planner(survey).propose(source.get(), request)) {
      case Proposal.Refused(List<Diagnostic> diagnostics) ->
          actions.refuse(asked, new PlanOutcome.Refused(diagnostics));
      case Proposal.Ready ready -> actions.insert(request, ready, asked);
    };
  }

  private StartCheck check() {
    return new StartCheck(journal, sources, survey);
  }

  /** The runs as they are written down. */
  public JournalTable journal() {
    return journal;
  }

  /**
   * Begins, if the table is still as it was planned.
   *
   * @param accepted the codes of preconditions that the application meets
   */
  public IdempotentResult<ActionOutcome> start(
      long id, List<String> accepted, ActionRequest<ActionOutcome> asked) {
    return looking(
        asked,
        () -> act(id, asked, Transition.start(accepted).unless(check().refusal(id, accepted))));
  }

  public IdempotentResult<ActionOutcome> pause(long id, ActionRequest<ActionOutcome> asked) {
    return act(id, asked, Transition.PAUSE::decide);
  }

  public IdempotentResult<ActionOutcome> resume(long id, ActionRequest<ActionOutcome> asked) {
    return act(id, asked, Transition.RESUME::decide);
  }

  /** Tries again what failed. */
  public IdempotentResult<ActionOutcome> retry(long id, ActionRequest<ActionOutcome> asked) {
    return act(id, asked, Transition.RETRY::decide);
  }

  /** Ends it for good where it is; what it left on the table can then be undone. */
  public IdempotentResult<ActionOutcome> cancel(long id, ActionRequest<ActionOutcome> asked) {
    return act(id, asked, Transition.CANCEL::decide);
  }

  /** Compares source and mappings; the report is part of the run. */
  public IdempotentResult<ActionOutcome> verify(long id, ActionRequest<ActionOutcome> asked) {
    return act(id, asked, Transition.VERIFY::decide);
  }

  /**
   * Makes the new keys the primary key, and the legacy IDs an ordinary column. What the switch
   * needs is built at once, and is used again by a later switch if the window closes before.
   */
  public IdempotentResult<ActionOutcome> switchWithin(
      long id, SwitchWindow window, ActionRequest<ActionOutcome> asked) {
    return act(id, asked, Transition.switchWithin(window).unless(window.refusalAt(journal.now())));
  }

  /**
   * Takes the legacy IDs off the table, for good, if nothing is known to need them.
   *
   * @param accepted the codes of what is known and accepted all the same
   */
  public IdempotentResult<ActionOutcome> contract(
      long id, List<String> accepted, ActionRequest<ActionOutcome> asked) {
    ContractCheck check = new ContractCheck(journal, sources);
    return looking(
        asked,
        () -> act(id, asked, Transition.contract(accepted).unless(check.refusal(id, accepted))));
  }

  /** What still uses the columns of the legacy IDs since the switch; empty before a switch. */
  public Optional<OldColumns> oldColumns(TableMigration run) {
    return Deadline.after(LOOK_MAX).call(() -> new ContractCheck(journal, sources).look(run));
  }

  /** Undoes a phase and all that came after it. */
  public IdempotentResult<ActionOutcome> undo(
      long id, Phase phase, ActionRequest<ActionOutcome> asked) {
    return act(id, asked, Transition.undo(phase)::decide);
  }

  /**
   * Takes what an undo left from the source: the archive of the run's table, and our schema with
   * the last archive. No further run can be planned for the type, because it would give the rows
   * other keys than their public IDs have.
   */
  public IdempotentResult<ActionOutcome> forget(long id, ActionRequest<ActionOutcome> asked) {
    return acting(id, asked, () -> new ArchiveRemoval(journal, sources).drop(id));
  }

  /** What {@link #retire} would do; empty for a run that can't be retired. */
  public Optional<Retirement.Plan> retirement(TableMigration run, NewKeys newKeys) {
    return Deadline.after(LOOK_MAX).call(() -> retirement.plan(run, newKeys));
  }

  /** Takes what a contracted run keeps on its table off. */
  public IdempotentResult<ActionOutcome> retire(
      long id, NewKeys newKeys, ActionRequest<ActionOutcome> asked) {
    return acting(id, asked, () -> retirement.retire(id, newKeys));
  }

  /** Changes the throttle settings, also while it runs. */
  public IdempotentResult<ActionOutcome> set(
      long id,
      Function<ThrottleSettings, ThrottleSettings> change,
      ActionRequest<ActionOutcome> asked) {
    return act(id, asked, run -> Decision.set(run, change.apply(run.throttleSettings())));
  }

  public UnmappedRows unmappedRows() {
    return readThrough;
  }

  @Override
  public void close() {
    erasures.close();
    runners.close();
  }

  /** A repeated request is answered before the source is looked at. */
  private <T> IdempotentResult<T> looking(
      ActionRequest<T> asked, Supplier<IdempotentResult<T>> work) {
    return actions.answered(asked).orElseGet(() -> Deadline.after(LOOK_MAX).call(work::get));
  }

  /** Of what is done in the source before it is decided: the caller's state is compared first. */
  private IdempotentResult<ActionOutcome> acting(
      long id,
      ActionRequest<ActionOutcome> asked,
      Supplier<Function<TableMigration, Decision>> work) {
    return looking(
        asked,
        () ->
            journal
                .find(id)
                .flatMap(asked::refusal)
                .map(refusal -> actions.refuse(asked, refusal))
                .orElseGet(() -> act(id, asked.inAnyState(), work.get())));
  }

  private IdempotentResult<ActionOutcome> act(
      long id, ActionRequest<ActionOutcome> asked, Function<TableMigration, Decision> decider) {
    IdempotentResult<ActionOutcome> result = actions.decide(id, asked, decider);
    switch (result) {
      case IdempotentResult.Unkeyed<ActionOutcome> _, IdempotentResult.Answered<ActionOutcome> _ ->
          active.refresh();
      case IdempotentResult.KeyReused<ActionOutcome> _, IdempotentResult.Busy<ActionOutcome> _ -> {}
    }
    return result;
  }
}
