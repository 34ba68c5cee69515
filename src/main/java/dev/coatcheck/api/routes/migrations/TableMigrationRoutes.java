package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.JsonObject;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.api.server.RequestBody;
import dev.coatcheck.api.server.RequestId;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.file.FileImports;
import dev.coatcheck.migrate.inspect.Diagnostic;
import dev.coatcheck.migrate.run.PlanOutcome;
import dev.coatcheck.migrate.run.PlanRequest;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.source.TableName;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.Optional;

/** Plans of table migrations, and the runs that come of them: {@code /v1/table-migrations}. */
public final class TableMigrationRoutes implements AutoCloseable {
  static final String ALL = "/v1/table-migrations";
  static final String ONE = ALL + "/{id}";

  private static final Diagnostic TABLE_MALFORMED =
      new Diagnostic(
          "table_malformed",
          "Write the table as table or schema.table, exactly as it is called; a name that holds a"
              + " dot goes in double quotes.");

  private final TableMigrations migrations;
  private final Registry registry;
  private final RunAnswers answers;
  private final EventRoutes events;
  private final FileRoutes files;
  private final Problems problems;

  public TableMigrationRoutes(
      TableMigrations migrations, FileImports files, Registry registry, Observer observer) {
    this.migrations = migrations;
    this.registry = registry;
    this.problems = new Problems(observer);
    this.files = new FileRoutes(files, problems);
    this.answers = new RunAnswers(migrations, registry, problems);
    this.events = new EventRoutes(migrations, answers, problems, observer);
  }

  public void register(Endpoints endpoints) {
    endpoints.json(
        HandlerType.POST, ALL, Scope.TABLE_MIGRATIONS_WRITE, RequestBody.BYTES_MAX, this::plan);
    endpoints.secured(HandlerType.GET, ALL, Scope.TABLE_MIGRATIONS_READ, this::list);
    endpoints.secured(HandlerType.GET, ONE, Scope.TABLE_MIGRATIONS_READ, this::one);
    new ActionRoutes(migrations, answers).register(endpoints);
    events.register(endpoints);
    files.register(endpoints);
  }

  /** Ends the streams: a graceful stop would wait for them. */
  @Override
  public void close() {
    events.close();
  }

  private void plan(Context ctx) {
    Query.allow(ctx);
    RequestBody.Hashed hashed = RequestBody.readHashed(ctx);
    JsonObject body =
        hashed
            .object()
            .allow(
                "source",
                "table",
                "type",
                "created_at_column",
                "keep_primary_key",
                "application_search_path");
    Optional<TableName> table = TableText.parse(body.string("table"));
    Type type = type(body.string("type"));
    String source = body.optionalString("source").orElse(Sources.GATEWAY);
    Optional<String> createdAt = body.nullableString("created_at_column");
    boolean keepPrimaryKey = body.bool("keep_primary_key", false);
    Optional<SearchPath> applicationPath =
        body.nullableString("application_search_path").map(TableMigrationRoutes::path);
    if (table.isEmpty()) {
      problems.write(ctx, Problem.tableRefused(List.of(TABLE_MALFORMED)));
      return;
    }
    PlanRequest request =
        new PlanRequest(
            source,
            table.get().schema(),
            table.get().table(),
            type,
            createdAt,
            keepPrimaryKey,
            applicationPath);
    String requestId = RequestId.of(ctx);
    answers.answer(
        ctx,
        hashed.sha256(),
        (PlanOutcome outcome) -> rendered(outcome, requestId),
        asked -> migrations.plan(request, asked));
  }

  private Answer rendered(PlanOutcome outcome, String requestId) {
    return switch (outcome) {
      case PlanOutcome.Planned(TableMigration.Whole whole) ->
          Answer.json(201, answers.withPlan(whole));
      case PlanOutcome.SourceUnknown _ ->
          Problems.answer(
              Problem.at(
                  ProblemCode.SOURCE_UNKNOWN,
                  "source",
                  "COATCHECK_SOURCE_<NAME>_URL registers one; gateway is the gateway's own"
                      + " database."),
              requestId);
      case PlanOutcome.Refused(List<Diagnostic> findings) ->
          Problems.answer(Problem.tableRefused(findings), requestId);
    };
  }

  private static SearchPath path(String text) {
    return SearchPath.parse(text)
        .orElseThrow(
            () ->
                new Refusal(
                    Problem.at(
                        ProblemCode.FIELD_INVALID,
                        "application_search_path",
                        "Write it as SHOW search_path does: names of schemas between commas.")));
  }

  private Type type(String name) {
    return registry
        .named(name)
        .orElseThrow(
            () ->
                new Refusal(
                    Problem.at(
                        ProblemCode.TYPE_UNKNOWN,
                        "type",
                        "GET /v1/types lists them; PUT /v1/types/{name} adds one.")));
  }

  /** As every list of ours. */
  private record ListView(String object, List<TableMigrationView> data) {}

  private void list(Context ctx) {
    Query.allow(ctx);
    Answer.json(
        ctx, 200, new ListView("list", migrations.list().stream().map(answers::brief).toList()));
  }

  private void one(Context ctx) {
    Query.allow(ctx);
    Answer.json(ctx, 200, answers.withPlan(answers.run(ctx)));
  }
}
