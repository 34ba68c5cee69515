package dev.coatcheck.api.routes.types;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.PutConditions;
import dev.coatcheck.ids.registry.PutOutcome;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The registry of types: {@code /v1/types}. */
public final class TypeRoutes implements Routes {
  private static final String CONFIRM = "confirm";
  private static final String DRY_RUN = "dry_run";
  private static final String IF_MATCH = "If-Match";
  private static final String IF_NONE_MATCH = "If-None-Match";

  private final Registry registry;
  private final Parameters parameters;
  private final TypeChanges changes;
  private final InstantSource clock;

  public TypeRoutes(
      Registry registry, Parameters parameters, TypeChanges changes, InstantSource clock) {
    this.registry = registry;
    this.parameters = parameters;
    this.changes = changes;
    this.clock = clock;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/types", Scope.TYPES_READ, this::list);
    endpoints.secured(HandlerType.GET, "/v1/types/{name}", Scope.TYPES_READ, this::one);
    endpoints.json(
        HandlerType.PUT, "/v1/types/{name}", Scope.TYPES_WRITE, this::put, CONFIRM, DRY_RUN);
    endpoints.mergePatch("/v1/types/{name}", Scope.TYPES_WRITE, this::patch, CONFIRM, DRY_RUN);
    endpoints.json(HandlerType.POST, "/v1/types/{name}/eras", Scope.TYPES_WRITE, this::addEra);
  }

  private Answer list(Context ctx) {
    Query.none(ctx);
    AllowedTypes allowed = RequestCaller.types(ctx);
    return Answer.json(
        200,
        ListView.of(registry.all().stream().filter(allowed::hold).map(TypeRoutes::view).toList()));
  }

  private Answer one(Context ctx) {
    Query.none(ctx);
    return answer(200, parameters.type(ctx, "name"));
  }

  private Answer put(Context ctx, RequestBody body) {
    TypeDefinition definition = changes.definition(ctx.pathParam("name"), body.object());
    return change(ctx, _ -> definition);
  }

  private Answer patch(Context ctx, RequestBody body) {
    return change(ctx, changes.patch(body.object()));
  }

  private Answer change(Context ctx, Function<Optional<Type>, TypeDefinition> change) {
    Query query = Query.of(ctx, CONFIRM, DRY_RUN);
    String name = ctx.pathParam("name");
    PutConditions conditions = conditions(ctx, query);
    Rights rights = RequestCaller.of(ctx).caller().rights();
    return query.bool(DRY_RUN)
        ? changes
            .refusal(name, change, conditions, rights)
            .map(refusal -> answer(ctx, refusal))
            .orElseGet(() -> Answer.empty(204))
        : answer(ctx, changes.put(name, change, conditions, rights, RequestCaller.actor(ctx)));
  }

  private Answer addEra(Context ctx, RequestBody body) {
    IdempotencyHeader.refuse(
        ctx, "Send no Idempotency-Key: a seal key begins one era of a type at most.");
    String name = ctx.pathParam("name");
    JsonObject era = body.object().allow("seal_key", "starts_at");
    Parameters.requireAllowed(RequestCaller.types(ctx), name);
    return registry
        .addEra(
            name,
            era.nullableTime("starts_at").map(time -> time.truncatedTo(ChronoUnit.MILLIS)),
            TypeBody.sealKey(era),
            RequestCaller.actor(ctx))
        .map(outcome -> answer(ctx, outcome))
        .orElseThrow(() -> new Refusal(Parameters.typeUnknown("name")));
  }

  private static Answer answer(Context ctx, PutOutcome outcome) {
    return switch (outcome) {
      case PutOutcome.Created(Type type) -> answer(201, type);
      case PutOutcome.Updated(Type type) -> answer(200, type);
      case PutOutcome.Refused refused -> Answer.of(TypeChanges.problem(refused));
      case PutOutcome.VersionDiffers _ ->
          Answer.of(
              ctx.header(IF_NONE_MATCH) == null
                  ? Problem.at(
                      ProblemCode.PRECONDITION_FAILED,
                      IF_MATCH,
                      "The type has changed. Read it again and repeat the change.")
                  : Problem.at(
                      ProblemCode.PRECONDITION_FAILED,
                      IF_NONE_MATCH,
                      "The type exists already. Read it, and change it with If-Match."));
      case PutOutcome.LinksWouldDie dying -> Answer.of(TypeChanges.problem(dying));
    };
  }

  private PutConditions conditions(Context ctx, Query query) {
    return new PutConditions(
        expectedVersion(ctx),
        query.is(CONFIRM, "links") ? Optional.empty() : Optional.of(clock.instant()));
  }

  /** That of If-Match; 0, which no type has, for {@code If-None-Match: *}. */
  private static OptionalInt expectedVersion(Context ctx) {
    String ifMatch = ctx.header(IF_MATCH);
    String ifNoneMatch = ctx.header(IF_NONE_MATCH);
    if (ifNoneMatch != null) {
      if (ifMatch != null || !ifNoneMatch.equals("*")) {
        throw new Refusal(
            ProblemCode.HEADER_INVALID,
            IF_NONE_MATCH,
            "Send * for a type that must not exist yet, without If-Match, or leave it out.");
      }
      return OptionalInt.of(0);
    }
    return Parameters.ifMatch(ctx, "type");
  }

  private static Answer answer(int status, Type type) {
    return Answer.json(status, view(type)).with("ETag", "\"" + type.version() + "\"");
  }

  private static Map<String, @Nullable Object> view(Type type) {
    Map<String, @Nullable Object> view = new LinkedHashMap<>();
    view.put("object", "type");
    view.put("name", type.name());
    view.putAll(TypeBody.fields(type));
    view.put("eras", TypeBody.eras(type));
    view.put("retired_at", type.retiredAt().orElse(null));
    view.put("created_at", type.createdAt());
    view.put("updated_at", type.updatedAt());
    view.put("version", type.version());
    return view;
  }
}
