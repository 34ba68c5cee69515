package dev.coatcheck.migrate.run;

import dev.coatcheck.bulk.load.LegacyKeyTable;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.steps.Outbox;
import dev.coatcheck.migrate.verify.Verifier;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What runners work with.
 *
 * @param holder names this instance
 */
record Workshop(
    RunStore runs,
    StepStore steps,
    EventStore events,
    LeaseStore leases,
    GatewayMappings gateway,
    String holder) {

  Observer observer() {
    return gateway.observer();
  }

  void event(TableMigration run, String kind, String detail) {
    event(run.id(), run.target(), kind, detail);
  }

  void event(long run, Target target, String kind, String detail) {
    events.event(run, holder, kind, detail);
    observer().observe(new Event.TableMigrated(target.table().text(), kind, detail));
  }

  /** Says once that a table has other names now. */
  void renamed(long run, Target now) {
    String detail =
        "The table is %s now, and its key %s.".formatted(now.table().text(), now.keyColumn());
    if (runs.renamed(run, now, holder, detail)) {
      observer().observe(new Event.TableMigrated(now.table().text(), "renamed", detail));
    }
  }

  /** Ends what the runner was claimed for, unless somebody wants something else by now. */
  void settle(TableMigration run, RunState state, String kind, String detail) {
    var _ =
        runs.decide(
            run.id(),
            TableMigrations.Asked.by(holder),
            now -> {
              if (now.status().state() != RunState.RUNNING
                  || now.status().goal() != run.status().goal()) {
                return new RunStore.Decision.Refuse(
                    new ActionOutcome.NotNow(now.status().state(), "It was stopped."));
              }
              TableMigration.Status next = now.status().to(state);
              return new RunStore.Decision.Change(
                  now.with(state == RunState.FAILED ? next.because(detail) : next), kind, detail);
            });
    observer().observe(new Event.TableMigrated(run.target().table().text(), kind, detail));
  }

  /** Nothing of it is on the table any more. */
  void undone(TableMigration run) {
    runs.forgetSetAside(run.id());
    var _ =
        runs.decide(
            run.id(),
            TableMigrations.Asked.by(holder),
            now ->
                new RunStore.Decision.Change(
                    now.with(now.status().to(RunState.CANCELLED).occupying(false)),
                    "undone",
                    "Nothing of the run is on the table; the archive keeps the keys."));
  }

  /** Says what is wrong, if anything is. */
  Optional<String> verify(
      SourceSession session, TableMigration run, Source source, Heartbeat heartbeat) {
    Verifier verifier =
        new Verifier(
            session,
            gateway.database(),
            run.target(),
            gateway.type(run.typeNumber()),
            outbox(run, source));
    Verifier.Report report =
        verifier.run(heartbeat::isMine, _ -> {}).orElseThrow(Heartbeat.Stopped::new);
    runs.report(run.id(), RunStore.json(report));
    return report.clean() ? Optional.empty() : Optional.of(broken(report));
  }

  /** The broken promises, each with its first example. */
  private static String broken(Verifier.Report report) {
    return report.checks().stream()
        .filter(check -> !check.holds())
        .map(
            check ->
                "%s: %d, for instance %s"
                    .formatted(check.code(), check.count(), check.samples().getFirst()))
        .collect(Collectors.joining("; "));
  }

  Outbox outbox(TableMigration run, Source source) {
    return gateway.outbox(source, run.target(), run.typeNumber());
  }

  LegacyKeyTable mappings(TableMigration run) {
    return gateway.writer(run.typeNumber());
  }
}
