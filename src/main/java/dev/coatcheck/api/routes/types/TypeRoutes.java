package dev.coatcheck.api.routes.types;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.registry.PutOutcome;
import dev.coatcheck.ids.registry.PutOutcome.PublicIdsOverlap.Side;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.InstantSource;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/** The registry of types: {@code /v1/types}. */
public final class TypeRoutes implements Routes {
  private static final Pattern ETAG = Pattern.compile("\"([1-9][0-9]{0,8})\"");

  private final Registry registry;
  private final Parameters parameters;
  private final Consumer<Type> prepareKeys;
  private final TypeBody bodies;

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
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/types", Scope.TYPES_READ, this::list);
    endpoints.secured(HandlerType.GET, "/v1/types/{name}", Scope.TYPES_READ, this::one);
    endpoints.json(HandlerType.PUT, "/v1/types/{name}", Scope.TYPES_WRITE, this::put);
  }

  private Answer list(Context ctx) {
    Query.none(ctx);
    return Answer.json(200, ListView.of(registry.all().stream().map(TypeView::of).toList()));
  }

  private Answer one(Context ctx) {
    Query.none(ctx);
    return answer(200, parameters.type(ctx, "name"));
  }

  private Answer put(Context ctx, RequestBody body) {
    TypeDefinition definition = bodies.definition(ctx.pathParam("name"), body.object());
    return switch (registry.put(definition, expectedVersion(ctx))) {
      case PutOutcome.Created(Type type) -> prepared(201, type);
      case PutOutcome.Updated(Type type) -> prepared(200, type);
      case PutOutcome.PrefixTaken _ ->
          Answer.of(Problem.at(ProblemCode.PREFIX_TAKEN, "prefix", "Choose another prefix."));
      case PutOutcome.ImmutableFieldDiffers(String field) ->
          Answer.of(
              Problem.at(
                  ProblemCode.IMMUTABLE_FIELD,
                  field,
                  "This field can't be changed. Send its registered value, or create another"
                      + " type."));
      case PutOutcome.TagUnknown _ ->
          Answer.of(
              Problem.at(
                  ProblemCode.KEY_GENERATION_REFUSED,
                  "tag",
                  "No segment has this tag. Create the segment with PUT /v1/segments/{tag}"
                      + " first."));
      case PutOutcome.TemplateTypeUnknown(int template) ->
          Answer.of(
              Problem.at(
                  ProblemCode.URL_TEMPLATE_REFUSED,
                  TypeBody.urlTemplateAt(template),
                  "The URL template names a type that is not registered. Register that type"
                      + " first."));
      case PutOutcome.TemplatesContradict(int template, String typeName, LegacyUrlTemplate other) ->
          Answer.of(
              Problem.at(
                  ProblemCode.URL_TEMPLATE_CONFLICT,
                  TypeBody.urlTemplateAt(template),
                  "The same path can fit this URL template and "
                      + (typeName.equals(definition.name())
                          ? "another URL template of this type"
                          : other + " of the type " + typeName)
                      + ", and a number in it would be two different legacy IDs. Change one of"
                      + " them."));
      case PutOutcome.PublicIdsOverlap(Side side, String typeName) ->
          Answer.of(overlap(definition, side, typeName));
      case PutOutcome.VersionDiffers _ ->
          Answer.of(
              Problem.at(
                  ProblemCode.PRECONDITION_FAILED,
                  "If-Match",
                  "The type has changed. Read it again and repeat the change."));
    };
  }

  private Answer prepared(int status, Type type) {
    prepareKeys.accept(type);
    return answer(status, type);
  }

  private static Problem overlap(TypeDefinition definition, Side side, String typeName) {
    String other =
        typeName.equals(definition.name())
            ? "a public ID of this type itself"
            : "a public ID of the type " + typeName;
    return switch (side) {
      case OLDER_SYSTEM ->
          Problem.at(
              ProblemCode.PUBLIC_IDS_OVERLAP,
              OlderSystemBody.field(definition.policies().olderSystem().orElseThrow()),
              "Some text could be an older public ID of this type and "
                  + other
                  + ". Declare a text_prefix that only these older public IDs have, or lengths or"
                  + " an alphabet that tell them apart.");
      case PREFIX ->
          Problem.at(
              ProblemCode.PUBLIC_IDS_OVERLAP,
              "prefix",
              "With this prefix some public ID could be an older public ID of the type "
                  + typeName
                  + ". Choose another prefix.");
    };
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
    return Answer.json(status, TypeView.of(type)).with("ETag", "\"" + type.version() + "\"");
  }
}
