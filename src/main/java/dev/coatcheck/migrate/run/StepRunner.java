package dev.coatcheck.migrate.run;

import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.run.Heartbeat.Stopped;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.table.ArchiveTable;
import dev.coatcheck.migrate.table.Backfill.Outcome;
import dev.coatcheck.migrate.table.ChildFillTable;
import dev.coatcheck.migrate.table.Ddl;
import dev.coatcheck.migrate.table.Outbox;
import dev.coatcheck.migrate.table.OwnObjectsTable;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.Step;
import dev.coatcheck.migrate.table.StepOutcome;
import dev.coatcheck.migrate.verify.ContractedVerifier;
import dev.coatcheck.migrate.verify.Report;
import dev.coatcheck.migrate.verify.Verifier;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/** Applies and undoes single steps of a run, on the session of its runner. */
final class StepRunner {
  private static final int DRAIN_MILLIS = 250;

  /** Between two looks at how much is left in the outbox. */
  private static final int DRAINS_MAX = 50;

  /** Read at once, in one snapshot. */
  private static final int COMPARED_ROWS = 2_000;

  private static final int LISTED_MAX = 20;

  private final JournalTable journal;
  private final GatewayMappings gateway;
  private final Source source;
  private final SourceSession session;
  private final TableMigration run;
  private final Heartbeat heartbeat;
  private final Ddl ddl;
  private final OwnObjectsTable objects;

  /**
   * @param run with the names that its table has now
   */
  StepRunner(
      JournalTable journal,
      GatewayMappings gateway,
      Source source,
      SourceSession session,
      TableMigration run,
      Heartbeat heartbeat) {
    this.journal = journal;
    this.gateway = gateway;
    this.source = source;
    this.session = session;
    this.run = run;
    this.heartbeat = heartbeat;
    this.ddl = new Ddl(session, run.target(), heartbeat::pause);
    this.objects = new OwnObjectsTable(session, run.target());
  }

  /** A runner that was killed may have applied a step without having written that down. */
  boolean isThere(Step step) {
    return switch (step) {
      case Step.Ddl change -> ddl.isApplied(change);
      case Step.Index index -> ddl.isThere(index);
      case Step.NotNullCheck check -> ddl.isThere(check);
      case Step.Spare spare -> ddl.isThere(spare.index());
      case Step.Fill _, Step.Archive _, Step.Validate _, Step.Merge _, Step.Verify _ -> false;
    };
  }

  /**
   * Whether a step is to be applied. An index may have been dropped since it was built. The switch
   * uses indexes up, and has its own way of building them anew.
   *
   * @param state as it was written down
   */
  boolean isLeft(Step step, StepState state) {
    return !state.isApplied()
        || (step instanceof Step.Index index && !ddl.isValid(index) && !ddl.isSwitched());
  }

  StepOutcome apply(Step step) {
    return switch (step) {
      case Step.Ddl change -> ddl.isApplied(change) ? new StepOutcome.Done() : ddl.apply(change);
      case Step.Index index -> build(index);
      case Step.Spare spare -> build(spare.index());
      case Step.Validate validate -> ddl.apply(validate);
      case Step.Merge merge -> ddl.apply(merge);
      case Step.NotNullCheck check -> ddl.apply(check, () -> fill(check.child()));
      case Step.Fill fill -> {
        session.fence(heartbeat.claim().fence());
        yield StepOutcome.of(fill(fill.child()));
      }
      case Step.Archive archive -> archive.isForward() ? archive(archive) : new StepOutcome.Done();
      case Step.Verify _ -> verify();
    };
  }

  private StepOutcome build(Step.Index index) {
    ddl.build(index);
    return ddl.isValid(index)
        ? new StepOutcome.Done()
        : new StepOutcome.Failed("the index " + index.index() + " is not valid");
  }

  /** Fills the twin of a child, or the new column of the table itself. */
  private Optional<String> fill(Optional<Child> child) {
    return child.isPresent()
        ? fill(child.get())
        : new FillLoop(journal, gateway, source, session, run, heartbeat).run();
  }

  private Optional<String> fill(Child child) {
    FillPace pace = pace();
    return child.leaves().stream()
        .map(
            leaf ->
                new ChildFill(
                        new ChildFillTable(session, run.target(), child, leaf),
                        leaf.table().text() + "." + child.column(),
                        pace,
                        heartbeat)
                    .run())
        .flatMap(Optional::stream)
        .findFirst();
  }

  private FillPace pace() {
    return new FillPace(journal, source, run, heartbeat);
  }

  private StepOutcome verify() {
    Database database = gateway.database();
    Type type = gateway.type(run.typeNumber());
    Optional<Report> found =
        journal.states(run.id()).isContracted()
            ? new ContractedVerifier(session, database, run.target(), type, outbox())
                .run(heartbeat::isMine)
            : new Verifier(session, database, run.target(), type, outbox()).run(heartbeat::isMine);
    Report report = found.orElseThrow(Stopped::new);
    journal.report(run, report);
    return report.clean() ? new StepOutcome.Done() : new StepOutcome.Failed(report.broken());
  }

  /**
   * @param state as it was written down
   * @param hasTable whether the table and its key column are there
   */
  StepOutcome undo(Step step, StepState state, boolean hasTable) {
    if (step.name().equals(Step.PREPARE)) {
      drain();
    } else if (!isOnChild(step) && !objects.hasTable()) {
      return new StepOutcome.Done();
    }
    if (step.name().equals(Step.DUAL_WRITE) && hasTable) {
      // Rows may have come since an earlier try; it archives the rest under its lock.
      archiveRows();
    }
    return switch (step) {
      // What is written down needs no look: the part that would be looked for may be gone. Only the
      // primary key can't be moved back twice, and it is always somewhere.
      case Step.Ddl change when state.isApplied() && !change.name().equals(Step.PRIMARY_KEY) ->
          ddl.apply(reversed(change));
      case Step.Ddl change -> ddl.undo(change);
      case Step.Index index -> ddl.drop(index);
      case Step.Spare spare -> ddl.undo(spare);
      case Step.Validate validate -> ddl.apply(validate);
      case Step.Merge merge -> ddl.apply(merge);
      case Step.NotNullCheck check -> ddl.undo(check);
      case Step.Archive archive when !hasTable -> new StepOutcome.Done();
      case Step.Archive archive -> archive.isForward() ? ddl.end(archive) : archive(archive);
      case Step.Fill _, Step.Verify _ -> new StepOutcome.Done();
    };
  }

  /** A child may outlive the table. */
  private static boolean isOnChild(Step step) {
    return step.phase() == Phase.CHILDREN || step.phase() == Phase.CONTRACT;
  }

  private static Step.Ddl reversed(Step.Ddl step) {
    return new Step.Ddl(
        step.phase(), step.name(), step.undoStatements(), step.statements(), step.check());
  }

  private StepOutcome archive(Step.Archive step) {
    StepOutcome begun = mustBegin(step) ? ddl.begin(step) : new StepOutcome.Done();
    if (begun instanceof StepOutcome.Done) {
      archiveRows();
      if (step.isForward()) {
        // To the batches, a checkpoint that is gone is the end of the table.
        objects.require(OwnObjectsTable.Extent.ON_TABLE);
      }
    }
    return begun;
  }

  /**
   * Contract continues after a pause. Between two tries of an undo, rows may have got keys that its
   * batches have passed. Where the function is gone its trigger is gone too, and no row comes with
   * a key.
   */
  private boolean mustBegin(Step.Archive step) {
    return objects.canArchiveNewRows() && !(step.isForward() && objects.isArchivingNewRows());
  }

  /** Continues where the last batch ended. */
  private void archiveRows() {
    ArchiveTable archive = new ArchiveTable(session, run.target());
    FillPace pace = pace();
    for (boolean isOver = false; !isOver; ) {
      pace.awaitTurn();
      int rows = pace.rows();
      switch (pace.keep(rows, () -> archive.next(rows), () -> {})) {
        case Outcome.Filled some -> isOver = some.rows() == 0;
        case Outcome.Failed held -> {
          heartbeat.because(Optional.of(held.error()));
          pace.shrink();
        }
      }
    }
    heartbeat.because(Optional.empty());
  }

  /**
   * Compares all rows with the archive, which may lack some: the trigger that archives new rows can
   * be off for a while. Rows whose public IDs were erased have left it.
   */
  StepOutcome compareArchive() {
    ddl.rememberTriggers();
    ArchiveTable archive = new ArchiveTable(session, run.target());
    FillPace pace = pace();
    for (OptionalLong after = OptionalLong.of(Long.MIN_VALUE); after.isPresent(); ) {
      pace.awaitTurn();
      heartbeat.requireMine();
      ArchiveTable.Compared rows = archive.compare(after.getAsLong(), COMPARED_ROWS);
      List<Long> missing = withoutErased(rows.missing());
      if (!missing.isEmpty()) {
        archive.restart();
        return new StepOutcome.Failed(notArchived(missing), true);
      }
      after = rows.lastId();
    }
    return new StepOutcome.Done();
  }

  private List<Long> withoutErased(List<Long> legacyIds) {
    if (legacyIds.isEmpty()) {
      return legacyIds;
    }
    Set<Long> erased = gateway.writer(run.typeNumber()).erased(gateway.database(), legacyIds);
    return legacyIds.stream().filter(id -> !erased.contains(id)).toList();
  }

  private static String notArchived(List<Long> legacyIds) {
    return legacyIds.stream()
        .limit(LISTED_MAX)
        .map(String::valueOf)
        .collect(
            Collectors.joining(
                ", ",
                "rows are not in the archive with their key, the first with the IDs ",
                ". Something disabled the trigger ~coatcheck_archived, or changed the archive."
                    + " Retry archives all rows again, and verifies again."));
  }

  /**
   * Brings every entry of the outbox to the gateway, however many there are. The triggers are gone,
   * so no entry is added.
   */
  private void drain() {
    Outbox outbox = outbox();
    for (long left = outbox.lag().entries(); left > 0; left = outbox.lag().entries()) {
      String why = left + " entries of the outbox are left to be brought to the gateway";
      if (heartbeat.because(Optional.of(why))) {
        journal.event(run, "draining", why);
      }
      for (int drain = 0; drain < DRAINS_MAX; drain++) {
        heartbeat.requireMine();
        if (!drain(outbox)) {
          heartbeat.pause(DRAIN_MILLIS);
          break;
        }
      }
    }
    heartbeat.because(Optional.empty());
  }

  /** False if nothing could be brought now: others work on the rest, or hold what it needs. */
  private static boolean drain(Outbox outbox) {
    try {
      return outbox.drain().entries() > 0;
    } catch (DatabaseUnavailable reportedAlready) {
      return false;
    }
  }

  private Outbox outbox() {
    return gateway.outbox(source, run.target(), run.typeNumber());
  }
}
