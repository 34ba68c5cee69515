package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.run.Transition.Decision;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.postgres.connection.Deadline;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** Drops what an undo or a retirement leaves in a source, unless another run still needs it. */
final class ArchiveRemoval {
  private static final Duration DROP_MAX = Duration.ofSeconds(10);

  /** A run of the same table that is over has no use for the archive. */
  private static final Set<RunState> OVER = EnumSet.of(RunState.CANCELLED, RunState.CONTRACTED);

  private final JournalTable journal;
  private final Sources sources;

  ArchiveRemoval(JournalTable journal, Sources sources) {
    this.journal = journal;
    this.sources = sources;
  }

  sealed interface Outcome {
    /** In words; also if nothing was there. */
    record Dropped(String what) implements Outcome {}

    /** Nothing was changed. */
    record Needed(String why) implements Outcome {}
  }

  /** Drops it, and returns the decision to record. */
  Function<TableMigration, Decision> drop(long id) {
    Optional<Outcome> outcome = journal.find(id).map(this::drop);
    return run ->
        switch (outcome.orElseThrow()) {
          case Outcome.Dropped(String what) -> new Decision.Change(run, "forget", what);
          case Outcome.Needed(String why) -> Decision.refuse(run, why);
        };
  }

  /** Why the run itself still needs the archive, if it does. */
  static Optional<String> refusal(TableMigration run) {
    if (run.status().occupies()) {
      return Optional.of(
          run.status().state() == RunState.CONTRACTED
              ? "Retire the run first: its table still has the triggers."
              : "Undo the run from expand on first: its table still has the triggers.");
    }
    return OVER.contains(run.status().state())
        ? Optional.empty()
        : Optional.of("Cancel the run first: it would take its keys from the archive.");
  }

  private static String wayOut(TableMigration.Status status) {
    if (status.state() == RunState.CONTRACTED) {
      return "retire";
    }
    return status.occupies() ? "undo and cancel" : "cancel";
  }

  /**
   * Drops the archive of the run's table, and our schema if it holds nothing else. The event is
   * there before the archive is gone: this gateway may die, and no later run may take the type.
   */
  private Outcome drop(TableMigration run) {
    Optional<String> refusal = refusal(run);
    if (refusal.isPresent()) {
      return new Outcome.Needed(refusal.get());
    }
    Optional<TableMigration> other =
        journal.of(run.source(), run.target().anchors().firstName()).stream()
            .filter(one -> one.id() != run.id())
            .filter(one -> one.status().occupies() || !OVER.contains(one.status().state()))
            .findFirst();
    if (other.isPresent()) {
      return new Outcome.Needed(
          "Run %d of the same table is %s and needs the archive. First %s that run."
              .formatted(
                  other.get().id(),
                  other.get().status().state().wireName(),
                  wayOut(other.get().status())));
    }
    Optional<Source> source = sources.named(run.source());
    if (source.isEmpty()) {
      return new Outcome.Needed(
          "The source %s is no longer registered. Set COATCHECK_SOURCE_<NAME>_URL again, or drop"
                  .formatted(run.source())
              + " the schema coatcheck_migration there by hand.");
    }
    return Deadline.after(DROP_MAX)
        .orEarlier()
        .call(
            () ->
                new ArchiveRemovalStore(source.get().database(), run.target())
                    .drop(what -> journal.event(run, "forget", "Is about to go: " + what)));
  }
}
