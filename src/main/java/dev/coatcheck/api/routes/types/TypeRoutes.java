package dev.coatcheck.api.routes.types;

import dev.coatcheck.api.exchange.Answer;
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
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.PutConditions;
import dev.coatcheck.ids.registry.PutOutcome;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The registry of types: {@code /v1/types}. */
public final class TypeRoutes implements Routes {
  private static final Pattern ETAG = Pattern.compile("\"([1-9][0-9]{0,8})\"");
  private static final String CONFIRM = "confirm";

  private final Registry registry;
  private final Parameters parameters;
  private final Consumer<Type> prepareKeys;
  private final TypeBody bodies;
  private final InstantSource clock;

  /**
   * @param prepareKeys begins to lease what the first mint of a type needs
   */
  public TypeRoutes(
      Registry registry,
      Parameters parameters,
      RedirectHosts redirectHosts,
      Consumer<Type> prepareKeys,
      InstantSource clock) {
    this.registry = registry;
    this.parameters = parameters;
    this.prepareKeys = prepareKeys;
    this.bodies = new TypeBody(redirectHosts, clock);
    this.clock = clock;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/types", Scope.TYPES_READ, this::list);
    endpoints.secured(HandlerType.GET, "/v1/types/{name}", Scope.TYPES_READ, this::one);
    endpoints.json(HandlerType.PUT, "/v1/types/{name}", Scope.TYPES_WRITE, this::put, CONFIRM);
    endpoints.mergePatch("/v1/types/{name}", Scope.TYPES_WRITE, this::patch, CONFIRM);
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
    TypeDefinition definition = bodies.definition(ctx.pathParam("name"), body.object());
    return put(ctx, _ -> definition);
  }

  private Answer patch(Context ctx, RequestBody body) {
    return put(
        ctx,
        present ->
            bodies.patched(
                present.orElseThrow(() -> new Refusal(Parameters.typeUnknown("name"))),
                body.object()));
  }

  private Answer put(Context ctx, Function<Optional<Type>, TypeDefinition> change) {
    String name = ctx.pathParam("name");
    Parameters.requireAllowed(RequestCaller.types(ctx), name);
    return answer(
        registry.put(
            name,
            present -> {
              TypeDefinition definition = change.apply(present);
              if (definition.generation() instanceof KeyGeneration.Segment segment
                  && present.map(Type::generation).filter(segment::equals).isEmpty()) {
                requireSegments(ctx);
              }
              return definition;
            },
            conditions(ctx),
            RequestCaller.actor(ctx)));
  }

  /** The mints of a type draw from its segment, so it takes the rights to draw from it directly. */
  private static void requireSegments(Context ctx) {
    if (!RequestCaller.of(ctx).caller().rights().may(Scope.KEYS_WRITE)) {
      throw new Refusal(Endpoints.lacks(Scope.KEYS_WRITE));
    }
    RequestCaller.requireAllTypes(ctx);
  }

  private Answer answer(PutOutcome outcome) {
    return switch (outcome) {
      case PutOutcome.Created(Type type) -> prepared(201, type);
      case PutOutcome.Updated(Type type) -> prepared(200, type);
      case PutOutcome.Refused(String code, String field, String detail) ->
          Answer.of(Problem.named(code, field, detail));
      case PutOutcome.VersionDiffers _ ->
          Answer.of(
              Problem.at(
                  ProblemCode.PRECONDITION_FAILED,
                  "If-Match",
                  "The type has changed. Read it again and repeat the change."));
      case PutOutcome.LinksWouldDie dying ->
          Answer.of(
              new Problem(
                  ProblemCode.LINKS_WOULD_DIE,
                  "The change ends links that have a target today, and dying_links lists them."
                      + " Nothing was changed. Send the request with confirm=links to end them.",
                  new Problem.DyingLinks(
                      dying.links().stream()
                          .map(links -> new Problem.DyingLink(links.field(), links.detail()))
                          .toList(),
                      dying.legacyHits(),
                      dying.liveIds(),
                      dying.isExact())));
    };
  }

  private PutConditions conditions(Context ctx) {
    boolean isConfirmed =
        Query.of(ctx, CONFIRM)
            .text(CONFIRM)
            .map(
                text -> {
                  if (!text.equals("links")) {
                    throw Refusal.ofParameter(CONFIRM, "Send links, or leave confirm out.");
                  }
                  return true;
                })
            .orElse(false);
    return new PutConditions(
        expectedVersion(ctx), isConfirmed ? Optional.empty() : Optional.of(clock.instant()));
  }

  private Answer prepared(int status, Type type) {
    prepareKeys.accept(type);
    return answer(status, type);
  }

  private static OptionalInt expectedVersion(Context ctx) {
    String ifMatch = ctx.header("If-Match");
    if (ifMatch == null) {
      return OptionalInt.empty();
    }
    var version = ETAG.matcher(ifMatch);
    if (!version.matches()) {
      throw new Refusal(
          ProblemCode.HEADER_INVALID,
          "If-Match",
          "Send the ETag that a GET of the type gave, for instance \"1\".");
    }
    return OptionalInt.of(Integer.parseInt(version.group(1)));
  }

  private static Answer answer(int status, Type type) {
    return Answer.json(status, view(type)).with("ETag", "\"" + type.version() + "\"");
  }

  private static Map<String, @Nullable Object> view(Type type) {
    Map<String, @Nullable Object> view = new LinkedHashMap<>();
    view.put("object", "type");
    view.put("name", type.name());
    view.putAll(TypeBody.fields(type));
    view.put("created_at", type.createdAt());
    view.put("updated_at", type.updatedAt());
    view.put("version", type.version());
    return view;
  }
}
