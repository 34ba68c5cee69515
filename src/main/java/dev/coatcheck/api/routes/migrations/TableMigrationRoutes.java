package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.plan.PlanRequest;
import dev.coatcheck.migrate.run.ActionRequest;
import dev.coatcheck.migrate.run.KeyFileImport;
import dev.coatcheck.migrate.run.NewKeys;
import dev.coatcheck.migrate.run.PlanOutcome;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.TableSpec;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.Optional;

/** Plans table migrations, and shows their runs: {@code /v1/table-migrations}. */
public final class TableMigrationRoutes implements Routes, AutoCloseable {
  static final String ALL = "/v1/table-migrations";
  static final String ONE = ALL + "/{id}";

  private final TableMigrations migrations;
  private final Parameters parameters;
  private final RunAnswers answers;
  private final EventRoutes events;
  private final FileRoutes files;

  public TableMigrationRoutes(
      TableMigrations migrations,
      KeyFileImport files,
      Registry registry,
      Parameters parameters,
      Observer observer) {
    this.migrations = migrations;
    this.parameters = parameters;
    this.answers = new RunAnswers(migrations, registry);
    this.files = new FileRoutes(files, answers, observer);
    this.events = new EventRoutes(migrations, answers, observer);
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.json(HandlerType.POST, ALL, Scope.TABLE_MIGRATIONS_WRITE, this::plan);
    endpoints.secured(HandlerType.GET, ALL, Scope.TABLE_MIGRATIONS_READ, this::list);
    endpoints.secured(HandlerType.GET, ONE, Scope.TABLE_MIGRATIONS_READ, this::one);
    endpoints.secured(
        HandlerType.GET, ONE + "/old-columns", Scope.TABLE_MIGRATIONS_READ, this::oldColumns);
    endpoints.secured(
        HandlerType.GET, ONE + "/retirement", Scope.TABLE_MIGRATIONS_READ, this::retirement);
    new ActionRoutes(migrations, answers).register(endpoints);
    events.register(endpoints);
    files.register(endpoints);
  }

  /** Ends the streams of events. Otherwise a graceful stop would wait for them. */
  @Override
  public void close() {
    events.close();
  }

  private Answer plan(Context ctx, RequestBody body) {
    return planned(ctx, body.object())
        .map(
            request ->
                answers.act(
                    ctx,
                    body.sha256(),
                    (ActionRequest<PlanOutcome> asked) -> migrations.plan(request, asked),
                    this::answer))
        .orElseGet(() -> Answer.of(RunAnswers.tableMalformed()));
  }

  /** The plan request in a body; empty if the name of its table is invalid. */
  private Optional<PlanRequest> planned(Context ctx, JsonObject body) {
    body.allow(
        "source",
        "table",
        "type",
        "created_at_column",
        "keep_primary_key",
        "application_search_path");
    Optional<TableName> table = TableText.parse(body.string("table"));
    Type type = parameters.type(RequestCaller.types(ctx), "type", body.string("type"));
    String source = body.optionalString("source").orElse(Sources.GATEWAY);
    Optional<String> createdAt = body.nullableString("created_at_column");
    boolean keepPrimaryKey = body.bool("keep_primary_key", false);
    Optional<SearchPath> applicationPath =
        body.nullableString("application_search_path").map(RunFields::searchPath);
    return table.map(
        name ->
            new PlanRequest(
                source,
                new TableSpec(name.schema(), name.table(), createdAt, keepPrimaryKey),
                type,
                applicationPath));
  }

  private Answer answer(PlanOutcome outcome) {
    return outcome instanceof PlanOutcome.Planned(TableMigration.Whole whole)
        ? Answer.json(201, answers.withPlan(whole))
        : Answer.of(RunAnswers.refusal(outcome).orElseThrow());
  }

  private Answer list(Context ctx) {
    Query.none(ctx);
    AllowedTypes allowed = RequestCaller.types(ctx);
    return Answer.json(
        200,
        ListView.of(
            migrations.journal().list().stream()
                .filter(run -> answers.isOf(allowed, run))
                .map(answers::brief)
                .toList()));
  }

  private Answer one(Context ctx) {
    Query.none(ctx);
    return answers.ifKnown(ctx, run -> Answer.json(200, answers.withPlan(run)));
  }

  private Answer oldColumns(Context ctx) {
    Query.none(ctx);
    return answers.ifKnown(
        ctx,
        run ->
            migrations
                .oldColumns(run)
                .map(columns -> Answer.json(200, OldColumnsView.of(run, columns)))
                .orElseGet(() -> Answer.of(RunAnswers.notSwitched(run))));
  }

  private Answer retirement(Context ctx) {
    String text = Query.of(ctx, "new_keys").needed("new_keys", RetirementView.NEW_KEYS);
    NewKeys newKeys =
        WireNamed.find(NewKeys.class, text)
            .orElseThrow(() -> Refusal.ofParameter("new_keys", RetirementView.NEW_KEYS));
    return answers.ifKnown(
        ctx,
        run ->
            migrations
                .retirement(run, newKeys)
                .map(plan -> Answer.json(200, RetirementView.of(run, plan)))
                .orElseGet(() -> Answer.of(RunAnswers.notContracted(run))));
  }
}
