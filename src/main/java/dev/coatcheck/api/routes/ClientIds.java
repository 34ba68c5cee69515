package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import java.util.Optional;

/** Reads client IDs and their namespaces. */
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
      throw body.invalid(
          NAMESPACE,
          "client_namespace needs a client_id. Add the client_id, or leave client_namespace out.");
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
                  .orElseThrow(() -> body.missing(NAMESPACE, MISSING));
          return alias(type, namespace, body.at(CLIENT_ID), value);
        });
  }

  /** The client ID of a path; its namespace is in the query. */
  static Alias read(Context ctx, Query query, Type type, String value) {
    Namespace namespace =
        query
            .text(NAMESPACE)
            .map(
                name ->
                    Namespace.named(name)
                        .orElseThrow(() -> Refusal.ofParameter(NAMESPACE, MALFORMED)))
            .or(() -> Namespace.unnamed(type.clientNames(), RequestCaller.principal(ctx)))
            .orElseThrow(() -> Refusal.ofParameter(NAMESPACE, MISSING));
    return alias(type, namespace, "value", value);
  }

  private static Alias alias(Type type, Namespace namespace, String param, String value) {
    if (!AliasScheme.CLIENT.accepts(value)) {
      throw Parameters.aliasMalformed(AliasScheme.CLIENT, param);
    }
    return Alias.client(type, namespace, value);
  }
}
