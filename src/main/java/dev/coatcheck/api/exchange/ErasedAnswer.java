package dev.coatcheck.api.exchange;

import dev.coatcheck.ids.idempotency.StoredResponse;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Stored responses without the public IDs in them that were erased since: 410 for a single one, and
 * for each such item of a batch.
 */
final class ErasedAnswer {
  private ErasedAnswer() {}

  static Answer of(StoredResponse stored) {
    if (stored.erased().isEmpty()) {
      return Answer.stored(stored.status(), stored.body());
    }
    JsonNode body = Json.MAPPER.readTree(stored.body());
    if (!(body.path("data") instanceof ArrayNode items)) {
      return Answer.of(Problem.erased("id"));
    }
    for (int i = 0; i < items.size(); i++) {
      if (items.get(i) instanceof ObjectNode item && names(item, stored)) {
        items.set(i, Json.MAPPER.valueToTree(erased(i)));
      }
    }
    return Answer.stored(stored.status(), Json.text(body));
  }

  /** Whether a string anywhere in it is an erased public ID. */
  private static boolean names(JsonNode node, StoredResponse stored) {
    if (node.isString()) {
      return stored.erased().contains(node.stringValue());
    }
    for (JsonNode child : node) {
      if (names(child, stored)) {
        return true;
      }
    }
    return false;
  }

  private static Problem.ItemError erased(int index) {
    return new Problem.ItemError(index, Problem.erased("items[" + index + "].id"));
  }
}
