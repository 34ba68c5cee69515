package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.OlderId.LegacyId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.redirect.IdResolver;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.function.Function;

/**
 * Aliases of public IDs: {@code /v1/ids/{id}/aliases} lists, adds and removes them, {@code GET
 * /v1/types/{type}/aliases} looks up the public ID of an alias.
 */
public final class AliasRoutes implements Routes {
  private static final String OF_ID = "/v1/ids/{id}/aliases";
  private static final String ONE_OF_ID = OF_ID + "/{scheme}/{value}";
  private static final String OF_TYPE = "/v1/types/{type}/aliases/{scheme}/{value}";

  private final Resolver resolver;
  private final IdResolver ids;
  private final Aliases aliases;
  private final Parameters parameters;

  public AliasRoutes(Resolver resolver, IdResolver ids, Aliases aliases, Parameters parameters) {
    this.resolver = resolver;
    this.ids = ids;
    this.aliases = aliases;
    this.parameters = parameters;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, OF_ID, Scope.IDS_READ, this::list);
    endpoints.bodiless(HandlerType.PUT, ONE_OF_ID, Scope.IDS_WRITE, this::put);
    endpoints.bodiless(HandlerType.DELETE, ONE_OF_ID, Scope.IDS_WRITE, this::remove);
    endpoints.secured(HandlerType.GET, OF_TYPE, Scope.IDS_READ, this::find);
  }

  private Answer list(Context ctx) {
    Query.none(ctx);
    return ofIssued(
        ctx,
        mapping -> Answer.json(200, AliasView.list(aliases.of(mapping.type(), mapping.token()))));
  }

  private Answer put(Context ctx) {
    Query query = Query.of(ctx, ClientIds.NAMESPACE);
    AliasScheme scheme = Parameters.aliasScheme(ctx.pathParam("scheme"));
    return switch (resolver.resolve(ctx.pathParam("id"), RequestCaller.types(ctx))) {
      case ResolveOutcome.Found(Mapping mapping) ->
          add(mapping, alias(ctx, query, mapping.type(), scheme), RequestCaller.actor(ctx));
      case ResolveOutcome.Ended _ -> ended();
      case ResolveOutcome.Erased _ -> Answer.of(Problem.erased("id"));
      case ResolveOutcome.Unissued unissued -> Answer.of(IdProblems.unissued("id", unissued));
    };
  }

  private Answer add(Mapping mapping, Alias alias, Actor actor) {
    return switch (aliases.add(mapping.type(), mapping.publicId(), alias, actor)) {
      case ADDED -> Answer.json(201, AliasView.of(alias, PublicIdView.of(mapping)));
      case PRESENT -> Answer.json(200, AliasView.of(alias, PublicIdView.of(mapping)));
      case TAKEN -> ofAnother("Another public ID already has this alias. Nothing was done.");
      case ERASED -> Answer.of(Problem.erased("value"));
      case ENDED -> ended();
    };
  }

  private static Answer ended() {
    return Answer.of(
        IdProblems.ended(
            "id", "This public ID was revoked or merged; it gets no further aliases."));
  }

  private Answer remove(Context ctx) {
    Query query = Query.of(ctx, ClientIds.NAMESPACE);
    AliasScheme scheme = Parameters.aliasScheme(ctx.pathParam("scheme"));
    return ofIssued(
        ctx,
        mapping ->
            switch (aliases.remove(
                mapping.publicId(),
                alias(ctx, query, mapping.type(), scheme),
                RequestCaller.actor(ctx))) {
              case REMOVED, ABSENT -> Answer.empty(204);
              case OF_ANOTHER ->
                  ofAnother("Another public ID has this alias, and keeps it. Nothing was done.");
            });
  }

  private static Answer ofAnother(String detail) {
    return Answer.of(Problem.at(ProblemCode.ALIAS_CONFLICT, "value", detail));
  }

  /** For a public ID that was issued: an ended public ID keeps its aliases. */
  private Answer ofIssued(Context ctx, Function<Mapping, Answer> answer) {
    return switch (resolver.resolve(ctx.pathParam("id"), RequestCaller.types(ctx))) {
      case ResolveOutcome.Found(Mapping mapping) -> answer.apply(mapping);
      case ResolveOutcome.Ended ended -> answer.apply(ended.mapping());
      case ResolveOutcome.Erased _ -> Answer.of(Problem.erased("id"));
      case ResolveOutcome.Unissued unissued -> Answer.of(IdProblems.unissued("id", unissued));
    };
  }

  private Answer find(Context ctx) {
    Query query = Query.of(ctx, ClientIds.NAMESPACE);
    AliasScheme scheme = Parameters.aliasScheme(ctx.pathParam("scheme"));
    Type type = parameters.type(ctx, "type");
    Alias alias = alias(ctx, query, type, scheme);
    return switch (resolved(type, alias)) {
      case ResolveOutcome.Found(Mapping mapping) ->
          Answer.json(200, AliasView.of(alias, PublicIdView.of(mapping)));
      case ResolveOutcome.Merged merged ->
          Answer.json(200, AliasView.of(alias, PublicIdView.of(merged)));
      case ResolveOutcome.Revoked revoked -> Answer.of(IdProblems.revoked("value", revoked));
      case ResolveOutcome.Erased _ -> Answer.of(Problem.erased("value"));
      case ResolveOutcome.Unissued _ ->
          Answer.of(
              Problem.at(
                  ProblemCode.ALIAS_UNKNOWN,
                  "value",
                  "No public ID of this type has this alias. For a client ID, check its"
                      + " client_namespace."));
    };
  }

  /** The row of a legacy ID may wait for a table migration to fill it. */
  private ResolveOutcome resolved(Type type, Alias alias) {
    return alias.scheme() == AliasScheme.LEGACY
        ? ids.lookUp(new LegacyId(type, Long.parseLong(alias.value())))
        : resolver.resolveAlias(type, alias);
  }

  private static Alias alias(Context ctx, Query query, Type type, AliasScheme scheme) {
    String value = ctx.pathParam("value");
    if (scheme == AliasScheme.CLIENT) {
      return ClientIds.of(
          type,
          value,
          query.text(ClientIds.NAMESPACE),
          ClientIds.NAMESPACE,
          RequestCaller.principal(ctx));
    }
    if (query.text(ClientIds.NAMESPACE).isPresent()) {
      throw Refusal.ofParameter(
          ClientIds.NAMESPACE, "Only client IDs have a namespace. Leave client_namespace out.");
    }
    return Parameters.alias(type, scheme, "value", value);
  }
}
