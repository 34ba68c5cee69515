package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.api.server.RequestBody;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.PutOutcome;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.InstantSource;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/** The registry of types: {@code /v1/types}. */
public final class TypeRoutes {
  private static final Pattern ETAG = Pattern.compile("\"([1-9][0-9]{0,8})\"");

  private final Registry registry;
  private final TypeBody bodies;
  private final Problems problems;

  public TypeRoutes(
      Registry registry, RedirectHosts redirectHosts, InstantSource clock, Problems problems) {
    this.registry = registry;
    this.bodies = new TypeBody(redirectHosts, clock);
    this.problems = problems;
  }

  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/types", Scope.TYPES_READ, this::list);
    endpoints.secured(HandlerType.GET, "/v1/types/{name}", Scope.TYPES_READ, this::one);
    endpoints.json(
        HandlerType.PUT, "/v1/types/{name}", Scope.TYPES_WRITE, RequestBody.BYTES_MAX, this::put);
  }

  private void list(Context ctx) {
    Query.allow(ctx);
    Answer.json(
        ctx, 200, Views.ListView.of(registry.all().stream().map(Views.TypeView::of).toList()));
  }

  private void one(Context ctx) {
    Query.allow(ctx);
    registry
        .named(ctx.pathParam("name"))
        .ifPresentOrElse(
            type -> answer(ctx, 200, type), () -> problems.write(ctx, unknownType("name")));
  }

  private void put(Context ctx) {
    Query.allow(ctx);
    TypeDefinition definition = bodies.definition(ctx.pathParam("name"), RequestBody.read(ctx));
    switch (registry.put(definition, expectedVersion(ctx))) {
      case PutOutcome.Created(Type type) -> answer(ctx, 201, type);
      case PutOutcome.Updated(Type type) -> answer(ctx, 200, type);
      case PutOutcome.PrefixTaken _ ->
          problems.write(
              ctx, Problem.at(ProblemCode.PREFIX_TAKEN, "prefix", "Choose another prefix."));
      case PutOutcome.ImmutableFieldDiffers(String field) ->
          problems.write(
              ctx,
              Problem.at(
                  ProblemCode.IMMUTABLE_FIELD,
                  field,
                  "Send the value that the type has, or create another type."));
      case PutOutcome.VersionDiffers _ ->
          problems.write(
              ctx,
              Problem.at(
                  ProblemCode.PRECONDITION_FAILED,
                  "If-Match",
                  "Read the type again and repeat the change on what it is now."));
    }
  }

  private static OptionalInt expectedVersion(Context ctx) {
    String ifMatch = ctx.header("If-Match");
    if (ifMatch == null) {
      return OptionalInt.empty();
    }
    var version = ETAG.matcher(ifMatch);
    if (!version.matches()) {
      throw new Refusal(
          Problem.at(
              ProblemCode.HEADER_INVALID,
              "If-Match",
              "Send the ETag that a GET of the type gave, for instance \"1\"."));
    }
    return OptionalInt.of(Integer.parseInt(version.group(1)));
  }

  static Problem unknownType(String param) {
    return Problem.at(
        ProblemCode.TYPE_UNKNOWN,
        param,
        "GET /v1/types lists them; PUT /v1/types/{name} adds one.");
  }

  static Type typeNamed(Registry registry, String param, String name) {
    return registry.named(name).orElseThrow(() -> new Refusal(unknownType(param)));
  }

  private static void answer(Context ctx, int status, Type type) {
    ctx.header("ETag", "\"" + type.version() + "\"");
    Answer.json(ctx, status, Views.TypeView.of(type));
  }
}
