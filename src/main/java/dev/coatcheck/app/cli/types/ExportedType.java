package dev.coatcheck.app.cli.types;

import dev.coatcheck.api.routes.types.TypeBody;
import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
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
    return fields(body);
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

  private static Map<String, @Nullable Object> fields(JsonNode object) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    object.forEachEntry((name, value) -> fields.put(name, plain(value)));
    return fields;
  }

  /** The value in classes that YAML is written from. */
  private static @Nullable Object plain(JsonNode value) {
    if (value.isObject()) {
      return fields(value);
    }
    if (value.isArray()) {
      List<@Nullable Object> items = new ArrayList<>();
      value.forEach(item -> items.add(plain(item)));
      return items;
    }
    return value.isNull()
        ? null
        : value.isBoolean()
            ? Boolean.valueOf(value.booleanValue())
            : value.isIntegralNumber() ? Long.valueOf(value.longValue()) : value.asString();
  }
}
