package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.mapping.Alias;
import dev.coatcheck.ids.mapping.AliasScheme;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.Mappings;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;

/** Further names of things that have a public ID: {@code /v1/ids/{id}/aliases}. */
public final class AliasRoutes {
  private static final String PATH = "/v1/ids/{id}/aliases/{scheme}/{value}";

  private final Mappings mappings;
  private final Problems problems;

  public AliasRoutes(Mappings mappings, Problems problems) {
    this.mappings = mappings;
    this.problems = problems;
  }

  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.PUT, PATH, Scope.IDS_WRITE, this::put);
  }

  private record AliasView(
      String object, String scheme, String value, Views.PublicIdView publicId) {
    static AliasView of(AliasScheme scheme, String value, Mapping mapping) {
      return new AliasView("alias", scheme.wireName(), value, Views.PublicIdView.of(mapping));
    }
  }

  private void put(Context ctx) {
    Query.allow(ctx);
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
    String value = ctx.pathParam("value");
    alias(mapping.type(), scheme, "value", value);
    switch (mappings.aliases().add(mapping, scheme, value)) {
      case ADDED -> Answer.json(ctx, 201, AliasView.of(scheme, value, mapping));
      case PRESENT -> Answer.json(ctx, 200, AliasView.of(scheme, value, mapping));
      case TAKEN ->
          problems.write(
              ctx,
              Problem.at(ProblemCode.ALIAS_CONFLICT, "value", "It is the name of another thing."));
    }
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

  /** A caller's alias, checked. */
  static Alias alias(Type type, AliasScheme scheme, String param, String value) {
    if (!scheme.accepts(value) || !fits(type, scheme, value)) {
      throw new Refusal(Problem.at(ProblemCode.ALIAS_MALFORMED, param, sentence(scheme)));
    }
    return Alias.of(type, scheme, value);
  }

  /** Only what the type's pattern describes is ever looked for among older public IDs. */
  private static boolean fits(Type type, AliasScheme scheme, String value) {
    return scheme != AliasScheme.PUBLIC
        || type.publicPattern().filter(pattern -> pattern.matches(value)).isPresent();
  }

  static String sentence(AliasScheme scheme) {
    return switch (scheme) {
      case LEGACY -> "A legacy ID is a decimal from 1 to 2^63 - 1 without leading zeros.";
      case CLIENT -> "A client ID is a UUID in 36 lower-case characters.";
      case PUBLIC ->
          "An older public ID is what the type's public_pattern describes, up to 255 characters.";
      case KEY -> "A key is a decimal or a UUID.";
    };
  }
}
