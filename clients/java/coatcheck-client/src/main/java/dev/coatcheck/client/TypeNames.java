package dev.coatcheck.client;

import dev.coatcheck.id.PublicId;
import dev.coatcheck.id.PublicIdType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The names of types, from their annotations, or else from the gateway, which is asked once. */
final class TypeNames {
  private final Map<String, String> byPrefix = new ConcurrentHashMap<>();
  private final Transport transport;

  TypeNames(Transport transport) {
    this.transport = transport;
  }

  /**
   * The name of a type.
   *
   * @throws IllegalArgumentException if the class is not bound to a prefix
   * @throws IllegalStateException if the gateway has no type with this prefix
   */
  String of(Class<?> type) {
    String prefix = PublicId.prefixOf(type);
    String declared = type.getAnnotation(PublicIdType.class).name();
    if (!declared.isEmpty()) {
      return declared;
    }
    String known = byPrefix.get(prefix);
    if (known == null) {
      for (Fields each :
          transport
              .send(GatewayRequest.of("GET", "/v1/types"), "listTypes")
              .fields()
              .list("data")) {
        byPrefix.put(each.required("prefix"), each.required("name"));
      }
      known = byPrefix.get(prefix);
    }
    if (known == null) {
      throw new IllegalStateException(
          "The gateway shows this API key no type with the prefix "
              + prefix
              + " of "
              + type.getName()
              + ".");
    }
    return known;
  }
}
