package dev.coatcheck.http;

import dev.coatcheck.access.Scope;
import dev.coatcheck.exchange.Answer;
import dev.coatcheck.exchange.JsonObject;
import dev.coatcheck.exchange.Problem;
import dev.coatcheck.exchange.ProblemCode;
import dev.coatcheck.exchange.Problems;
import dev.coatcheck.exchange.Query;
import dev.coatcheck.exchange.Refusal;
import dev.coatcheck.exchange.RequestBody;
import dev.coatcheck.id.Prefix;
import dev.coatcheck.key.KeyScheme;
import dev.coatcheck.registry.PutOutcome;
import dev.coatcheck.registry.Redirect;
import dev.coatcheck.registry.RedirectHosts;
import dev.coatcheck.registry.RedirectTemplate;
import dev.coatcheck.registry.Registry;
import dev.coatcheck.registry.Type;
import dev.coatcheck.registry.TypeDefinition;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.InstantSource;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/** The registry of types: {@code /v1/types}. */
final class TypeRoutes {
  private static final Pattern ETAG = Pattern.compile("\"([1-9][0-9]{0,8})\"");
  private static final int STATUS_DEFAULT = 302;

  private final Registry registry;
  private final RedirectHosts redirectHosts;
  private final InstantSource clock;
  private final Problems problems;

  TypeRoutes(
      Registry registry, RedirectHosts redirectHosts, InstantSource clock, Problems problems) {
    this.clock = clock;
    this.registry = registry;
    this.redirectHosts = redirectHosts;
    this.problems = problems;
  }

  void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/types", Scope.TYPES_READ, this::list);
    endpoints.secured(HandlerType.GET, "/v1/types/{name}", Scope.TYPES_READ, this::one);
    endpoints.secured(HandlerType.PUT, "/v1/types/{name}", Scope.TYPES_WRITE, this::put);
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
    TypeDefinition definition =
        definition(ctx.pathParam("name"), RequestBody.read(ctx, RequestBody.BYTES_MAX));
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

  private TypeDefinition definition(String name, JsonObject body) {
    if (!Type.isName(name)) {
      throw new Refusal(
          Problem.at(
              ProblemCode.PARAMETER_INVALID,
              "name",
              "A type's name is a lower-case letter, then up to 62 of a-z, 0-9 and _."));
    }
    body.allow("prefix", "key_scheme", "key_layout", "redirect");
    Prefix prefix =
        Prefix.parse(body.string("prefix"))
            .orElseThrow(
                () ->
                    body.invalid(
                        "prefix",
                        "A prefix is 1 to 32 of a-z, 0-9 and _, starts with a letter, and neither"
                            + " ends with _ nor doubles it."));
    KeyScheme scheme =
        KeyScheme.named(body.string("key_scheme"))
            .orElseThrow(
                () -> body.invalid("key_scheme", "The key schemes are snowflake and uuidv7."));
    return new TypeDefinition(
        name,
        prefix,
        scheme,
        KeyRoutes.layout(body, "key_layout", scheme, clock.instant()),
        body.optionalObject("redirect").map(this::redirect));
  }

  private Redirect redirect(JsonObject body) {
    body.allow("template", "status", "max_age_seconds", "public", "expose_key");
    int status = body.integer("status", 301, 308, STATUS_DEFAULT);
    if (!Redirect.STATUSES.contains(status)) {
      throw body.invalid("status", "A redirect is 301, 302, 307 or 308.");
    }
    int maxAgeSeconds = body.integer("max_age_seconds", 0, Redirect.MAX_AGE_SECONDS_MAX, 0);
    boolean isPublic = body.bool("public", true);
    boolean exposeKey = body.bool("expose_key", false);
    RedirectTemplate template =
        switch (RedirectTemplate.parse(body.string("template"), redirectHosts)) {
          case RedirectTemplate.Parsed.Accepted(RedirectTemplate accepted) -> accepted;
          case RedirectTemplate.Parsed.Refused(String reason) ->
              throw refused(body, "The template " + reason + ".");
        };
    if (isPublic && template.usesKey() && !exposeKey) {
      throw refused(
          body,
          "A public redirect with {key} would publish the internal key. Use {id}, or set"
              + " expose_key to true if that is meant.");
    }
    return new Redirect(template, status, maxAgeSeconds, isPublic, exposeKey);
  }

  private static Refusal refused(JsonObject body, String detail) {
    return new Refusal(
        Problem.at(ProblemCode.REDIRECT_TEMPLATE_REFUSED, body.at("template"), detail));
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
