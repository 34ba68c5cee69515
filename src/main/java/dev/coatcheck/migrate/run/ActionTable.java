package dev.coatcheck.migrate.run;

import dev.coatcheck.cluster.audit.AuditTable;
import dev.coatcheck.cluster.change.ChangeKind;
import dev.coatcheck.cluster.change.ChangeTable;
import dev.coatcheck.ids.idempotency.IdempotentCallTable;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.migrate.plan.PlanRequest;
import dev.coatcheck.migrate.plan.Proposal;
import dev.coatcheck.migrate.run.Transition.Decision;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/**
 * Writes the actions on runs. An action is decided under the lock of the run's row and committed
 * with its event, and the change feed tells all instances; a request with an Idempotency-Key is
 * answered once.
 */
final class ActionTable {
  /** Also the answer if a unique index refuses the second of two runs that start at once. */
  static final Diagnostic BUSY =
      new Diagnostic(
          "migration_active",
          "Another run of this table or type is on the table. Undo that run first, or retire it if"
              + " it is contracted.");

  private static final String ONE_PER_TABLE = "table_migration_one_per_table";
  private static final String ONE_PER_TYPE = "table_migration_one_per_type";

  private final Database database;

  ActionTable(Database database) {
    this.database = database;
  }

  /** The stored response, if the request has an Idempotency-Key with one. */
  <T> Optional<IdempotentResult<T>> answered(ActionRequest<T> asked) {
    return IdempotentCallTable.answered(database, asked.once());
  }

  /** Changes nothing; stores the refusal if the request has an Idempotency-Key. */
  <T> IdempotentResult<T> refuse(ActionRequest<T> asked, T refusal) {
    return IdempotentCallTable.refuse(database, asked.once(), refusal);
  }

  /** Writes a new run with its steps and its first event. */
  IdempotentResult<PlanOutcome> insert(
      PlanRequest request, Proposal.Ready proposal, ActionRequest<PlanOutcome> asked) {
    return IdempotentCallTable.write(
        database,
        "plan",
        asked.once(),
        sql -> {
          TableMigration run = RunRowTable.insert(sql, request, proposal);
          StepTable.insert(sql, run.id(), proposal.steps());
          String table = proposal.target().table().text();
          EventTable.append(sql, run.id(), asked.by(), "plan", table);
          PlanOutcome planned = new PlanOutcome.Planned(whole(sql, run));
          audit(sql, asked, "plan", run.id(), table);
          return planned;
        });
  }

  /** Locks the run, decides, and writes the decision with its event. */
  IdempotentResult<ActionOutcome> decide(
      long id, ActionRequest<ActionOutcome> asked, Function<TableMigration, Decision> decider) {
    try {
      return IdempotentCallTable.write(
          database, "table migration", asked.once(), sql -> decide(sql, id, asked, decider));
    } catch (DataAccessException refused) {
      if (SqlState.violates(refused, ONE_PER_TABLE) || SqlState.violates(refused, ONE_PER_TYPE)) {
        return refuse(asked, new ActionOutcome.Refused(List.of(BUSY)));
      }
      throw refused;
    }
  }

  private static ActionOutcome decide(
      DSLContext sql,
      long id,
      ActionRequest<ActionOutcome> asked,
      Function<TableMigration, Decision> decider) {
    Optional<TableMigration> run = RunRowTable.locked(sql, id);
    if (run.isEmpty()) {
      return new ActionOutcome.NotFound();
    }
    Optional<ActionOutcome> changed = asked.refusal(run.get());
    if (changed.isPresent()) {
      return changed.get();
    }
    return switch (decider.apply(run.get())) {
      case Decision.Refuse(ActionOutcome outcome) -> outcome;
      case Decision.Begun(String kind, String detail, ActionOutcome outcome) -> {
        EventTable.append(sql, id, asked.by(), kind, detail);
        audit(sql, asked, kind, id, detail);
        yield outcome;
      }
      case Decision.Change(TableMigration next, String kind, String detail) -> {
        RunRowTable.write(sql, next);
        EventTable.append(sql, id, asked.by(), kind, detail);
        ActionOutcome done = new ActionOutcome.Done(whole(sql, next));
        audit(sql, asked, kind, id, detail);
        ChangeTable.append(sql, ChangeKind.TABLE_MIGRATION, List.of(Long.toString(id)));
        yield done;
      }
    };
  }

  private static void audit(
      DSLContext sql, ActionRequest<?> asked, String kind, long id, String detail) {
    asked
        .audited()
        .ifPresent(
            actor ->
                AuditTable.append(
                    sql,
                    actor,
                    "table_migration." + kind,
                    Long.toString(id),
                    Map.of("detail", detail)));
  }

  private static TableMigration.Whole whole(DSLContext sql, TableMigration run) {
    return new TableMigration.Whole(
        run, StepTable.of(sql, run.id()), SetAsideTable.of(sql, run.id()));
  }
}
