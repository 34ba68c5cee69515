package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.JsonObject;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import java.util.Optional;

/** Reads client IDs, each with the namespace that it is unique in. */
final class ClientIds {
  static final String CLIENT_ID = "client_id";
  static final String NAMESPACE = "client_namespace";

  private static final String MISSING =
      "Client IDs of this type need a client_namespace: the channel, user or device that made"
          + " them.";
  private static final String MALFORMED =
      "A client_namespace is 1 to 64 visible ASCII characters without spaces.";

  private ClientIds() {}

  /** The client ID of a body, if it has one. */
  static Optional<Alias> read(JsonObject body, Type type, String principal) {
    Optional<String> given = body.optionalString(NAMESPACE);
    Optional<String> text = body.optionalString(CLIENT_ID);
    if (text.isEmpty() && given.isPresent()) {
      throw body.invalid(NAMESPACE, "This belongs to a client_id, and there is none.");
    }
    return text.map(
        value -> {
          Namespace namespace =
              given
                  .map(
                      name ->
                          Namespace.named(name)
                              .orElseThrow(() -> body.invalid(NAMESPACE, MALFORMED)))
                  .or(() -> Namespace.unnamed(type.clientNames(), principal))
                  .orElseThrow(
                      () ->
                          new Refusal(
                              Problem.at(ProblemCode.FIELD_MISSING, body.at(NAMESPACE), MISSING)));
          return alias(type, namespace, body.at(CLIENT_ID), value);
        });
  }

  /** The client ID of a path, whose namespace is in the query. */
  static Alias read(Context ctx, Type type, String value) {
    String given = ctx.queryParam(NAMESPACE);
    Namespace namespace =
        given == null
            ? Namespace.unnamed(type.clientNames(), Endpoints.caller(ctx).principal())
                .orElseThrow(() -> Refusal.ofParameter(NAMESPACE, MISSING))
            : Namespace.named(given).orElseThrow(() -> Refusal.ofParameter(NAMESPACE, MALFORMED));
    return alias(type, namespace, "value", value);
  }

  private static Alias alias(Type type, Namespace namespace, String param, String value) {
    if (!AliasScheme.CLIENT.accepts(value)) {
      throw AliasRoutes.malformed(AliasScheme.CLIENT, param);
    }
    return Alias.client(type, namespace, value);
  }
}
