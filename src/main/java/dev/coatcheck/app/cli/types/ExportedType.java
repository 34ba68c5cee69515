package dev.coatcheck.app.cli.types;

import dev.coatcheck.api.routes.types.TypeBody;
import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A type of a gateway as a file has it: without what it would have anyway. */
final class ExportedType {
  /** Not changed by a file that leaves it out, so a file says it. */
  private static final String CLIENT_NAMES = "client_names";

  private static final JsonMapper JSON = new JsonMapper();

  private ExportedType() {}

  static Map<String, @Nullable Object> of(String name, JsonNode type) {
    ObjectNode body = (ObjectNode) type.deepCopy();
    body.remove(TypeDiff.OF_THE_GATEWAY);
    JsonNode whole = whole(name, body);
    for (String field : List.copyOf(body.propertyNames())) {
      if (body.path(field) instanceof ObjectNode object) {
        for (String inner : List.copyOf(object.propertyNames())) {
          leaveOut(name, body, object, inner, whole);
        }
      }
      if (!field.equals(CLIENT_NAMES)) {
        leaveOut(name, body, body, field, whole);
      }
    }
    if (body.path(SaltReference.RULE) instanceof ObjectNode rule && rule.has(SaltReference.SALT)) {
      rule.set(SaltReference.SALT, JSON.valueToTree(SaltReference.exported(name)));
    }
    return JSON.convertValue(body, new TypeReference<>() {});
  }

  /** Takes a field out, and puts it back if that says something else. */
  private static void leaveOut(
      String name, ObjectNode body, ObjectNode holder, String field, JsonNode whole) {
    JsonNode value = holder.remove(field);
    if (!isSame(name, body, whole)) {
      holder.set(field, value);
    }
  }

  private static boolean isSame(String name, ObjectNode body, JsonNode whole) {
    try {
      return whole(name, body).equals(whole);
    } catch (JsonFault needed) {
      return false;
    }
  }

  private static JsonNode whole(String name, ObjectNode body) {
    return JSON.valueToTree(TypeBody.fields(TypeDiff.BODIES.definition(name, JsonObject.of(body))));
  }
}
