package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.JsonObject;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.RequestBody;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.migrate.run.ActionOutcome;
import dev.coatcheck.migrate.run.StepState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.migrate.run.TableMigrations.Asked;
import dev.coatcheck.migrate.steps.Phase;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** What people do with one run. What takes a while is answered with 202 and goes on. */
final class ActionRoutes {
  private static final int ACCEPTED_MAX = 100;
  private static final String NO_BODY = "";
  private static final Pattern CODE = Pattern.compile("[a-z][a-z0-9_]{0,63}");

  private final TableMigrations migrations;
  private final RunAnswers answers;

  ActionRoutes(TableMigrations migrations, RunAnswers answers) {
    this.migrations = migrations;
    this.answers = answers;
  }

  void register(Endpoints endpoints) {
    action(endpoints, "/pause", 200, migrations::pause);
    action(endpoints, "/resume", 202, migrations::resume);
    action(endpoints, "/retry", 202, migrations::retry);
    action(endpoints, "/cancel", 200, migrations::cancel);
    action(endpoints, "/verify", 202, migrations::verify);
    action(endpoints, "/forget", 200, migrations::forget);
    Scope needed = Scope.TABLE_MIGRATIONS_WRITE;
    endpoints.json(
        HandlerType.POST,
        TableMigrationRoutes.ONE + "/start",
        needed,
        RequestBody.BYTES_MAX,
        this::start);
    endpoints.json(
        HandlerType.POST,
        TableMigrationRoutes.ONE + "/undo",
        needed,
        RequestBody.BYTES_MAX,
        this::undo);
    endpoints.json(
        HandlerType.PATCH, TableMigrationRoutes.ONE, needed, RequestBody.BYTES_MAX, this::set);
  }

  /** Something that needs no more words. */
  private interface Action {
    IdempotentResult<ActionOutcome> act(long id, Asked<ActionOutcome> asked);
  }

  private void action(Endpoints endpoints, String verb, int statusIfDone, Action action) {
    endpoints.secured(
        HandlerType.POST,
        TableMigrationRoutes.ONE + verb,
        Scope.TABLE_MIGRATIONS_WRITE,
        ctx -> {
          Query.allow(ctx);
          long id = RunAnswers.id(ctx);
          answers.act(ctx, statusIfDone, NO_BODY, asked -> action.act(id, asked));
        });
  }

  private void start(Context ctx) {
    Query.allow(ctx);
    RequestBody.Hashed hashed = RequestBody.readHashed(ctx);
    JsonObject body = hashed.object().allow("accept");
    List<String> accepted = body.optionalStrings("accept", ACCEPTED_MAX);
    if (!accepted.stream().allMatch(code -> CODE.matcher(code).matches())) {
      throw body.invalid("accept", "These must be codes of preconditions, as the plan has them.");
    }
    long id = RunAnswers.id(ctx);
    answers.act(ctx, 202, hashed.sha256(), asked -> migrations.start(id, accepted, asked));
  }

  private void undo(Context ctx) {
    Query.allow(ctx);
    RequestBody.Hashed hashed = RequestBody.readHashed(ctx);
    JsonObject body = hashed.object().allow("phase");
    Optional<String> name = body.nullableString("phase");
    Optional<Phase> phase =
        name.flatMap(Phase::named).filter(known -> known.compareTo(Phase.VERIFY) < 0);
    if (name.isPresent() && phase.isEmpty()) {
      throw body.invalid("phase", "The phases are expand, backfill, index and not_null.");
    }
    long id = RunAnswers.id(ctx);
    answers.act(
        ctx,
        202,
        hashed.sha256(),
        asked -> migrations.undo(id, phase.orElseGet(() -> lastPhase(id)), asked));
  }

  /** The last one of which something is on the table. */
  private Phase lastPhase(long id) {
    return migrations.steps(id).reversed().stream()
        .filter(step -> step.state() != StepState.PENDING && step.state() != StepState.UNDONE)
        .map(TableMigration.StepStatus::phase)
        .filter(phase -> phase.compareTo(Phase.VERIFY) < 0)
        .findFirst()
        .orElse(Phase.EXPAND);
  }

  private void set(Context ctx) {
    Query.allow(ctx);
    RequestBody.Hashed hashed = RequestBody.readHashed(ctx);
    var change = ThrottleBody.change(hashed.object());
    long id = RunAnswers.id(ctx);
    answers.act(ctx, 200, hashed.sha256(), asked -> migrations.set(id, change, asked));
  }
}
