package dev.coatcheck.api.routes;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.Mappings;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import org.jspecify.annotations.Nullable;

/**
 * Further names of things that have a public ID: {@code PUT /v1/ids/{id}/aliases} gives them,
 * {@code GET /v1/types/{type}/aliases} finds the public ID by them.
 */
public final class AliasRoutes {
  private static final String OF_ID = "/v1/ids/{id}/aliases/{scheme}/{value}";
  private static final String OF_TYPE = "/v1/types/{type}/aliases/{scheme}/{value}";

  private final Mappings mappings;
  private final Registry registry;
  private final Problems problems;

  public AliasRoutes(Mappings mappings, Registry registry, Problems problems) {
    this.mappings = mappings;
    this.registry = registry;
    this.problems = problems;
  }

  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.PUT, OF_ID, Scope.IDS_WRITE, this::put);
    endpoints.secured(HandlerType.GET, OF_TYPE, Scope.IDS_READ, this::find);
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record AliasView(
      String object,
      String scheme,
      String value,
      @Nullable String clientNamespace,
      Views.PublicIdView publicId) {
    static AliasView of(Alias alias, Views.PublicIdView publicId) {
      return new AliasView(
          "alias",
          alias.scheme().wireName(),
          alias.value(),
          alias.namespace().name().orElse(null),
          publicId);
    }
  }

  private void put(Context ctx) {
    Query.allow(ctx, ClientIds.NAMESPACE);
    AliasScheme scheme = scheme(ctx.pathParam("scheme"));
    switch (mappings.resolver().resolve(ctx.pathParam("id"))) {
      case ResolveOutcome.Found(Mapping mapping) -> put(ctx, mapping, scheme);
      case ResolveOutcome.Ended _ -> problems.write(ctx, ended("id"));
      case ResolveOutcome.Unknown _ -> problems.write(ctx, IdRoutes.unknownId("id"));
      case ResolveOutcome.Malformed malformed ->
          problems.write(ctx, IdRoutes.malformedId("id", malformed));
    }
  }

  private void put(Context ctx, Mapping mapping, AliasScheme scheme) {
    Alias alias = alias(ctx, mapping.type(), scheme);
    Views.PublicIdView view = Views.PublicIdView.of(mapping);
    switch (mappings.aliases().add(mapping.token(), alias)) {
      case ADDED -> Answer.json(ctx, 201, AliasView.of(alias, view));
      case PRESENT -> Answer.json(ctx, 200, AliasView.of(alias, view));
      case TAKEN ->
          problems.write(
              ctx,
              Problem.at(ProblemCode.ALIAS_CONFLICT, "value", "Another public ID has this alias."));
    }
  }

  private void find(Context ctx) {
    Query.allow(ctx, ClientIds.NAMESPACE);
    AliasScheme scheme = scheme(ctx.pathParam("scheme"));
    Type type = TypeRoutes.typeNamed(registry, "type", ctx.pathParam("type"));
    Alias alias = alias(ctx, type, scheme);
    switch (mappings.resolver().resolveAlias(type, alias)) {
      case ResolveOutcome.Found(Mapping mapping) ->
          Answer.json(ctx, 200, AliasView.of(alias, Views.PublicIdView.of(mapping)));
      case ResolveOutcome.Merged merged ->
          Answer.json(ctx, 200, AliasView.of(alias, Views.PublicIdView.of(merged)));
      case ResolveOutcome.Revoked revoked ->
          problems.write(ctx, IdRoutes.revokedId("value", revoked));
      case ResolveOutcome.Unknown _, ResolveOutcome.Malformed _ ->
          problems.write(
              ctx,
              Problem.at(
                  ProblemCode.ALIAS_UNKNOWN,
                  "value",
                  "No public ID of this type has this alias, or a client ID is in another"
                      + " namespace."));
    }
  }

  /** The alias that a path names, checked. */
  private static Alias alias(Context ctx, Type type, AliasScheme scheme) {
    String value = ctx.pathParam("value");
    if (scheme == AliasScheme.CLIENT) {
      return ClientIds.read(ctx, type, value);
    }
    if (ctx.queryParam(ClientIds.NAMESPACE) != null) {
      throw Refusal.ofParameter(ClientIds.NAMESPACE, "Only client IDs have a namespace.");
    }
    return alias(type, scheme, "value", value);
  }

  private static Problem ended(String param) {
    return Problem.at(
        ProblemCode.ID_ENDED, param, "It was revoked or merged, and gets no further names.");
  }

  private static AliasScheme scheme(String text) {
    return AliasScheme.named(text)
        .filter(scheme -> scheme != AliasScheme.KEY)
        .orElseThrow(
            () -> Refusal.ofParameter("scheme", "The schemes are legacy, client and public."));
  }

  /** A caller's alias of another scheme than client, checked. */
  static Alias alias(Type type, AliasScheme scheme, String param, String value) {
    if (!scheme.accepts(value) || !fits(type, scheme, value)) {
      throw malformed(scheme, param);
    }
    return Alias.of(type, scheme, value);
  }

  static Refusal malformed(AliasScheme scheme, String param) {
    return new Refusal(Problem.at(ProblemCode.ALIAS_MALFORMED, param, sentence(scheme)));
  }

  /** Only what the type's pattern describes is ever looked for among older public IDs. */
  private static boolean fits(Type type, AliasScheme scheme, String value) {
    return scheme != AliasScheme.PUBLIC
        || type.publicPattern().filter(pattern -> pattern.matches(value)).isPresent();
  }

  static String sentence(AliasScheme scheme) {
    return switch (scheme) {
      case LEGACY -> "A legacy ID is a decimal from 1 to 2^63 - 1 without leading zeros.";
      case CLIENT -> "A client ID is a UUID in 36 characters.";
      case PUBLIC ->
          "An older public ID is what the type's public_pattern describes, up to 255 characters.";
      case KEY -> "A key is a decimal or a UUID.";
    };
  }
}
