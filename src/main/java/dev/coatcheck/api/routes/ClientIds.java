package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.registry.Namespace;
import dev.coatcheck.ids.registry.Type;
import java.util.Optional;
import java.util.function.Supplier;

/** Reads client IDs and their namespaces. */
public final class ClientIds {
  static final String CLIENT_ID = "client_id";
  static final String NAMESPACE = "client_namespace";

  private static final String MISSING =
      "Client IDs of this type need a %s: the channel, user or device that made them.";
  private static final String MALFORMED =
      "A %s is 1 to 64 visible ASCII characters without spaces.";

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
        value ->
            alias(
                type,
                namespace(
                    given,
                    type,
                    principal,
                    () -> body.invalid(NAMESPACE, MALFORMED.formatted(NAMESPACE)),
                    () -> body.missing(NAMESPACE, MISSING.formatted(NAMESPACE))),
                body.at(CLIENT_ID),
                value));
  }

  /**
   * The client ID of a parameter {@code value}.
   *
   * @param named its namespace, if one was sent
   * @param param the parameter of the namespace
   */
  public static Alias of(
      Type type, String value, Optional<String> named, String param, String principal) {
    Namespace namespace =
        namespace(
            named,
            type,
            principal,
            () -> Refusal.ofParameter(param, MALFORMED.formatted(param)),
            () -> Refusal.ofParameter(param, MISSING.formatted(param)));
    return alias(type, namespace, "value", value);
  }

  private static Namespace namespace(
      Optional<String> named,
      Type type,
      String principal,
      Supplier<RuntimeException> malformed,
      Supplier<RuntimeException> missing) {
    return named
        .map(name -> Namespace.named(name).orElseThrow(malformed))
        .or(() -> Namespace.unnamed(type.clientNames(), principal))
        .orElseThrow(missing);
  }

  private static Alias alias(Type type, Namespace namespace, String param, String value) {
    if (!AliasScheme.CLIENT.accepts(value)) {
      throw Parameters.aliasMalformed(AliasScheme.CLIENT, param);
    }
    return Alias.client(type, namespace, value);
  }
}
