package dev.coatcheck.api.exchange;

import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * A JSON object from a request. Every getter refuses a value of another kind, with the path of the
 * field ({@code items[3].key}). Nothing is converted.
 */
public final class JsonObject {
  /** A field name that an answer may repeat. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_]{1,64}");

  private static final Instant TIME_END = Instant.parse("9999-12-31T00:00:00Z");

  private final JsonNode node;
  private final String path;

  public JsonObject(JsonNode node, String path) {
    this.node = node;
    this.path = path;
  }

  /** Refuses all other fields. */
  public JsonObject allow(String... names) {
    List<String> allowed = List.of(names);
    for (String name : node.propertyNames()) {
      if (!allowed.contains(name)) {
        throw new Refusal(
            ProblemCode.FIELD_UNKNOWN,
            NAME.matcher(name).matches() ? at(name) : at("?"),
            "The known fields are " + String.join(", ", new TreeSet<>(allowed)) + ".");
      }
    }
    return this;
  }

  public boolean has(String name) {
    return node.has(name);
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
              return value.stringValue();
            });
  }

  /** Like {@link #optionalString}; empty also if the field is null. */
  public Optional<String> nullableString(String name) {
    return field(name).filter(JsonNode::isNull).isPresent()
        ? Optional.empty()
        : optionalString(name);
  }

  /** A time with an offset, from the year 1970 on; empty also if the field is null. */
  public Optional<Instant> nullableTime(String name) {
    return nullableString(name).map(text -> time(name, text));
  }

  private Instant time(String name, String text) {
    try {
      Instant time = OffsetDateTime.parse(text).toInstant();
      if (!time.isBefore(Instant.EPOCH) && time.isBefore(TIME_END)) {
        return time;
      }
    } catch (DateTimeException malformed) {
      // refused below
    }
    throw invalid(
        name, "Send a time such as 2026-01-31T12:00:00Z, from the year 1970 to 9999, or null.");
  }

  public boolean bool(String name, boolean otherwise) {
    return field(name)
        .map(
            value -> {
              if (!value.isBoolean()) {
                throw invalid(name, "This must be true or false.");
              }
              return value.booleanValue();
            })
        .orElse(otherwise);
  }

  public int integer(String name, int least, int most) {
    return field(name)
        .map(value -> integer(name, value, least, most))
        .orElseThrow(() -> missing(name));
  }

  public int integer(String name, int least, int most, int otherwise) {
    return field(name).map(value -> integer(name, value, least, most)).orElse(otherwise);
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
    return field(name)
        .filter(value -> !value.isNull())
        .map(
            value -> {
              if (!value.isObject()) {
                throw invalid(name, "This must be an object or null.");
              }
              return new JsonObject(value, at(name));
            });
  }

  /** The items of an array of 1 to {@code itemsMax} objects. */
  public List<JsonObject> objects(String name, int itemsMax) {
    List<JsonObject> objects = new ArrayList<>();
    for (JsonNode item : array(name, itemsMax)) {
      String itemPath = at(name) + "[" + objects.size() + "]";
      if (!item.isObject()) {
        throw new Refusal(ProblemCode.FIELD_INVALID, itemPath, "This must be an object.");
      }
      objects.add(new JsonObject(item, itemPath));
    }
    return objects;
  }

  /** The items of an array of 1 to {@code itemsMax} strings. */
  public List<String> strings(String name, int itemsMax) {
    return strings(name, array(name, itemsMax));
  }

  /** Like {@link #strings}; empty if the field is missing or its array is empty. */
  public List<String> optionalStrings(String name, int itemsMax) {
    boolean isNone = field(name).map(value -> value.isArray() && value.isEmpty()).orElse(true);
    return isNone ? List.of() : strings(name, itemsMax);
  }

  private List<String> strings(String name, JsonNode array) {
    List<String> strings = new ArrayList<>();
    for (JsonNode item : array) {
      if (!item.isString()) {
        throw new Refusal(
            ProblemCode.FIELD_INVALID,
            at(name) + "[" + strings.size() + "]",
            "This must be a string.");
      }
      strings.add(item.stringValue());
    }
    return strings;
  }

  /** The path of a field in the body. */
  public String at(String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  public Refusal invalid(String name, String detail) {
    return new Refusal(ProblemCode.FIELD_INVALID, at(name), detail);
  }

  private JsonNode array(String name, int itemsMax) {
    JsonNode array = field(name).orElseThrow(() -> missing(name));
    if (!array.isArray() || array.isEmpty()) {
      throw invalid(name, "This must be an array of 1 to " + itemsMax + " items.");
    }
    if (array.size() > itemsMax) {
      throw new Refusal(
          ProblemCode.PAYLOAD_TOO_LARGE,
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
    return value.intValue();
  }

  private Optional<JsonNode> field(String name) {
    return Optional.ofNullable(node.get(name));
  }

  /** For a required field; {@code detail} says why. */
  public Refusal missing(String name, String detail) {
    return new Refusal(ProblemCode.FIELD_MISSING, at(name), detail);
  }

  private Refusal missing(String name) {
    return missing(name, "This field is required.");
  }
}
