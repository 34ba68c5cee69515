package dev.coatcheck.core.json;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.name.WireNamed;
import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * A JSON object, mostly from a request. Every getter refuses a value of another kind, with the path
 * of the field ({@code items[3].key}). Nothing is converted.
 *
 * <p>A definition that is kept {@linkplain #recording records} what is read of it: the getters that
 * read it say which fields there are, of which kind and with which default, and what they read is
 * what is stored and shown.
 */
public final class JsonObject {
  /** A field name that an answer may repeat. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_]{1,64}");

  private static final Instant TIME_END = Instant.parse("9999-12-31T00:00:00Z");
  private static final JsonMapper JSON = new JsonMapper();

  private final JsonNode node;
  private final String path;
  private final boolean isOurs;
  private final @Nullable Map<String, @Nullable Object> read;

  private JsonObject(
      JsonNode node, String path, boolean isOurs, @Nullable Map<String, @Nullable Object> read) {
    this.node = node;
    this.path = path;
    this.isOurs = isOurs;
    this.read = read;
  }

  /** An object from a request. */
  public static JsonObject of(JsonNode node) {
    return new JsonObject(node, "", false, null);
  }

  /** An object that the gateway wrote: a later version may have written more fields. */
  public static JsonObject stored(JsonNode node) {
    return new JsonObject(node, "", true, null);
  }

  /** The same object, which records what is read of it and of the objects in it. */
  public JsonObject recording() {
    return new JsonObject(node, path, isOurs, new LinkedHashMap<>());
  }

  /** What was read, in that order, and the defaults of what was left out. */
  public Map<String, @Nullable Object> recorded() {
    return requireNonNull(read);
  }

  /** Records another form of a value that was read. */
  public void record(String name, @Nullable Object value) {
    if (read != null) {
      read.put(name, value);
    }
  }

  /**
   * The object that this one, as a JSON merge patch (RFC 7396), makes of another one: a null
   * removes a field, an object changes the fields that it has, and any other value takes the place
   * of the one before.
   */
  public JsonObject appliedTo(Map<String, @Nullable Object> fields) {
    JsonNode patched = JSON.valueToTree(fields);
    merge((ObjectNode) patched, node);
    return of(patched);
  }

  static void merge(ObjectNode target, JsonNode patch) {
    for (Map.Entry<String, JsonNode> change : patch.properties()) {
      String name = change.getKey();
      if (change.getValue().isNull()) {
        target.remove(name);
      } else if (change.getValue().isObject()) {
        ObjectNode inner =
            target.get(name) instanceof ObjectNode present ? present : target.objectNode();
        merge(inner, change.getValue());
        target.set(name, inner);
      } else {
        target.set(name, change.getValue());
      }
    }
  }

  /** Refuses any field that was not read. */
  public void refuseOthers() {
    allow(recorded().keySet().toArray(String[]::new));
  }

  /** Refuses all other fields. */
  public JsonObject allow(String... names) {
    List<String> allowed = List.of(names);
    for (String name : node.propertyNames()) {
      if (!isOurs && !allowed.contains(name)) {
        throw new JsonFault(
            "field_unknown",
            NAME.matcher(name).matches() ? at(name) : at("?"),
            allowed.isEmpty()
                ? "No field is known here. Send an empty object."
                : "The known fields are " + String.join(", ", new TreeSet<>(allowed)) + ".");
      }
    }
    return this;
  }

  public boolean has(String name) {
    return node.has(name);
  }

  /** The names of all fields, for an object whose names are the caller's. */
  public Collection<String> names() {
    return node.propertyNames();
  }

  public String string(String name) {
    return optionalString(name).orElseThrow(() -> missing(name));
  }

  public Optional<String> optionalString(String name) {
    return field(name)
        .map(
            value -> {
              if (!value.isString()) {
                throw invalid(name, "This must be a string.");
              }
              record(name, value.stringValue());
              return value.stringValue();
            });
  }

  public String string(String name, String otherwise) {
    record(name, otherwise);
    return optionalString(name).orElse(otherwise);
  }

  /** Like {@link #optionalString}; empty also if the field is null. */
  public Optional<String> nullableString(String name) {
    record(name, null);
    return field(name).filter(JsonNode::isNull).isPresent()
        ? Optional.empty()
        : optionalString(name);
  }

  /** A time with an offset, from the year 1970 on. */
  public Optional<Instant> optionalTime(String name) {
    return optionalString(name).map(text -> time(name, text, ""));
  }

  /** The same; empty also if the field is null. */
  public Optional<Instant> nullableTime(String name) {
    return nullableString(name).map(text -> time(name, text, ", or null"));
  }

  private Instant time(String name, String text, String orElse) {
    try {
      Instant time = OffsetDateTime.parse(text).toInstant();
      if (!time.isBefore(Instant.EPOCH) && time.isBefore(TIME_END)) {
        return time;
      }
    } catch (DateTimeException malformed) {
      // refused below
    }
    throw invalid(
        name,
        "Send a time such as 2026-01-31T12:00:00Z, from 1970-01-01 to 9999-12-30" + orElse + ".");
  }

  public boolean bool(String name, boolean otherwise) {
    Optional<JsonNode> value = field(name);
    if (value.isPresent() && !value.get().isBoolean()) {
      throw invalid(name, "This must be true or false.");
    }
    boolean bool = value.map(JsonNode::booleanValue).orElse(otherwise);
    record(name, bool);
    return bool;
  }

  public int oneOf(String name, Set<Integer> numbers, int otherwise) {
    int number = integer(name, Collections.min(numbers), Collections.max(numbers), otherwise);
    if (!numbers.contains(number)) {
      throw invalid(name, "This must be " + or(numbers.stream().sorted()) + ".");
    }
    return number;
  }

  public <E extends Enum<E> & WireNamed> Optional<E> constant(String name, Class<E> kind) {
    return optionalString(name)
        .map(
            text ->
                WireNamed.find(kind, text)
                    .orElseThrow(
                        () ->
                            invalid(
                                name,
                                "This must be "
                                    + or(
                                        Stream.of(kind.getEnumConstants()).map(WireNamed::wireName))
                                    + ".")));
  }

  public <E extends Enum<E> & WireNamed> E constant(String name, E otherwise) {
    record(name, otherwise.wireName());
    return constant(name, otherwise.getDeclaringClass()).orElse(otherwise);
  }

  private static String or(Stream<?> values) {
    return values
        .map(String::valueOf)
        .collect(Collectors.joining(", "))
        .replaceFirst(", ([^,]+)$", " or $1");
  }

  public int integer(String name, int least, int most) {
    return field(name)
        .map(value -> integer(name, value, least, most))
        .orElseThrow(() -> missing(name));
  }

  public int integer(String name, int least, int most, int otherwise) {
    record(name, otherwise);
    return field(name).map(value -> integer(name, value, least, most)).orElse(otherwise);
  }

  /** Empty if the field is missing or null. */
  public Optional<Integer> nullableInteger(String name, int least, int most) {
    record(name, null);
    return field(name)
        .filter(value -> !value.isNull())
        .map(value -> integer(name, value, least, most));
  }

  /**
   * An integer of any size; its range is checked elsewhere. Outside of a long it is the greatest or
   * the least long.
   */
  public OptionalLong wholeNumber(String name) {
    Optional<JsonNode> value = field(name);
    if (value.isEmpty()) {
      return OptionalLong.empty();
    }
    if (!value.get().isIntegralNumber()) {
      throw invalid(name, "This must be an integer.");
    }
    BigInteger number = value.get().bigIntegerValue();
    return OptionalLong.of(
        number.bitLength() < Long.SIZE
            ? number.longValue()
            : number.signum() > 0 ? Long.MAX_VALUE : Long.MIN_VALUE);
  }

  /** Empty if the field is missing or null. */
  public Optional<JsonObject> optionalObject(String name) {
    record(name, null);
    return field(name)
        .filter(value -> !value.isNull())
        .map(
            value -> {
              if (!value.isObject()) {
                throw invalid(name, "This must be an object or null.");
              }
              JsonObject object = inner(at(name), value);
              record(name, object.read);
              return object;
            });
  }

  /** The items of an array of 1 to {@code itemsMax} objects. */
  public List<JsonObject> objects(String name, int itemsMax) {
    return items(name, array(name, itemsMax));
  }

  /** The items of an array of up to {@code itemsMax} objects; empty if the field is missing. */
  public List<JsonObject> optionalObjects(String name, int itemsMax) {
    Optional<JsonNode> array = field(name);
    if (array.filter(value -> !value.isArray() || value.size() > itemsMax).isPresent()) {
      throw invalid(name, "This must be an array of up to " + itemsMax + " objects.");
    }
    List<JsonObject> objects = array.map(value -> items(name, value)).orElse(List.of());
    if (read != null) {
      record(name, objects.stream().map(JsonObject::recorded).toList());
    }
    return objects;
  }

  private List<JsonObject> items(String name, JsonNode array) {
    List<JsonObject> items = new ArrayList<>();
    for (JsonNode item : array) {
      String itemPath = at(name) + "[" + items.size() + "]";
      if (!item.isObject()) {
        throw new JsonFault("field_invalid", itemPath, "This must be an object.");
      }
      items.add(inner(itemPath, item));
    }
    return items;
  }

  /** An object in this one: it records what is read of it if this one does. */
  private JsonObject inner(String itsPath, JsonNode value) {
    return new JsonObject(value, itsPath, isOurs, read == null ? null : new LinkedHashMap<>());
  }

  /** The items of an array of 1 to {@code itemsMax} strings. */
  public List<String> strings(String name, int itemsMax) {
    return strings(name, array(name, itemsMax));
  }

  /** Whether the field is missing or its array is empty. */
  public boolean hasNone(String name) {
    return field(name).map(value -> value.isArray() && value.isEmpty()).orElse(true);
  }

  /** Like {@link #strings}; empty if there are {@link #hasNone none}. */
  public List<String> optionalStrings(String name, int itemsMax) {
    List<String> strings = hasNone(name) ? List.of() : strings(name, itemsMax);
    record(name, strings);
    return strings;
  }

  /**
   * Like {@link #strings}; empty if the field is missing or null, while an empty array is refused.
   */
  public Optional<List<String>> nullableStrings(String name, int itemsMax) {
    return field(name).filter(value -> !value.isNull()).map(_ -> strings(name, itemsMax));
  }

  private List<String> strings(String name, JsonNode array) {
    List<String> strings = new ArrayList<>();
    for (JsonNode item : array) {
      if (!item.isString()) {
        throw new JsonFault(
            "field_invalid", at(name) + "[" + strings.size() + "]", "This must be a string.");
      }
      strings.add(item.stringValue());
    }
    return strings;
  }

  /** The path of a field in the body. */
  public String at(String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  /** A value that is understood, and refused with a code of its own. */
  public JsonFault refused(String code, String name, String detail) {
    return new JsonFault(code, at(name), detail);
  }

  public JsonFault invalid(String name, String detail) {
    return new JsonFault("field_invalid", at(name), detail);
  }

  private JsonNode array(String name, int itemsMax) {
    JsonNode array = field(name).orElseThrow(() -> missing(name));
    if (!array.isArray() || array.isEmpty()) {
      throw invalid(name, "This must be an array of 1 to " + itemsMax + " items.");
    }
    if (array.size() > itemsMax) {
      throw new JsonFault(
          "payload_too_large",
          at(name),
          "This array has at most " + itemsMax + " items. Send the items in several requests.");
    }
    return array;
  }

  private int integer(String name, JsonNode value, int least, int most) {
    if (!value.isIntegralNumber()
        || !value.canConvertToInt()
        || value.intValue() < least
        || value.intValue() > most) {
      throw invalid(name, "This must be an integer from " + least + " to " + most + ".");
    }
    record(name, value.intValue());
    return value.intValue();
  }

  private Optional<JsonNode> field(String name) {
    return Optional.ofNullable(node.get(name));
  }

  /** For a required field; {@code detail} says why. */
  public JsonFault missing(String name, String detail) {
    return new JsonFault("field_missing", at(name), detail);
  }

  private JsonFault missing(String name) {
    return missing(name, "This field is required.");
  }
}
