package dev.coatcheck.app.cli.types;

import dev.coatcheck.api.routes.types.TypeBody;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.registry.RedirectHosts;
import java.io.PrintWriter;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * What a put would change about a type, field by field.
 *
 * @param fields those that differ
 */
public record TypeDiff(List<Field> fields) {
  /** What an answer has and a definition has not. */
  public static final List<String> OF_THE_GATEWAY =
      List.of("object", "name", "eras", "retired_at", "created_at", "updated_at", "version");

  /** What a put that leaves it out does not change. */
  private static final List<String> KEPT = List.of("client_names", "sealed");

  /** The gateway has the list of the hosts that redirects may lead to. */
  static final TypeBody BODIES = new TypeBody(RedirectHosts.unchecked(), InstantSource.system());

  /**
   * A field that differs.
   *
   * @param name dotted
   * @param before its values, none if it has none; one for a field that is no list
   * @param isHidden whether the values are secret: then there are none
   */
  public record Field(String name, List<String> before, List<String> after, boolean isHidden) {
    public Field {
      before = List.copyOf(before);
      after = List.copyOf(after);
    }

    JsonNode json() {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("field", name);
      json.put("old", before);
      json.put("new", after);
      if (isHidden) {
        json.put("hidden", true);
      }
      return Output.object(json);
    }

    /** A line for each value that goes or comes; a list may only have another order. */
    void print(PrintWriter out, String indent) {
      if (isHidden) {
        out.println(indent + "~ " + name + " differs (hidden)");
      }
      before.stream()
          .filter(value -> !after.contains(value))
          .forEach(value -> out.println(indent + "- " + name + " " + value));
      after.stream()
          .filter(value -> !before.contains(value))
          .forEach(value -> out.println(indent + "+ " + name + " " + value));
    }
  }

  public TypeDiff {
    fields = List.copyOf(fields);
  }

  /**
   * The difference of a type and the body of a put.
   *
   * @param type as the gateway has it, if there is one
   */
  public static TypeDiff of(String name, Optional<JsonNode> type, JsonNode body) throws Misused {
    try {
      return of(type, whole(name, type, body), Set.of());
    } catch (JsonFault fault) {
      throw new Misused(fault.field() + ": " + fault.detail());
    }
  }

  /**
   * The same, without the values of some fields.
   *
   * @param hidden their dotted names
   */
  static TypeDiff of(
      Optional<JsonNode> type, Map<String, @Nullable Object> whole, Set<String> hidden) {
    SequencedMap<String, List<String>> after = Output.flat(Output.object(whole));
    SequencedMap<String, List<String>> before =
        Output.flat(type.orElseGet(JsonNodeFactory.instance::objectNode));
    before.keySet().removeIf(field -> OF_THE_GATEWAY.contains(field.split("[.]", 2)[0]));
    Set<String> names = new LinkedHashSet<>(before.sequencedKeySet());
    names.addAll(after.sequencedKeySet());
    List<Field> fields = new ArrayList<>();
    for (String name : names) {
      List<String> old = before.getOrDefault(name, List.of());
      List<String> next = after.getOrDefault(name, List.of());
      if (!old.equals(next)) {
        fields.add(
            hidden.contains(name)
                ? new Field(name, List.of(), List.of(), true)
                : new Field(name, old, next, false));
      }
    }
    return new TypeDiff(fields);
  }

  /**
   * The type as a put would leave it: what the body leaves out has its default, or stays.
   *
   * @throws JsonFault for what a type can't be
   */
  static Map<String, @Nullable Object> whole(String name, Optional<JsonNode> type, JsonNode body) {
    Map<String, @Nullable Object> whole =
        TypeBody.fields(BODIES.definition(name, JsonObject.of(body)));
    for (String field : KEPT) {
      if (type.isPresent() && (!body.has(field) || body.path(field).isNull())) {
        whole.put(field, type.get().path(field));
      }
    }
    return whole;
  }

  public boolean isEmpty() {
    return fields.isEmpty();
  }

  /** Prints {@code - field value} for what goes and {@code + field value} for what comes. */
  public void print(Output output) throws CommandFailed {
    for (Field field : fields) {
      output.print(field.json(), out -> field.print(out, ""));
    }
  }
}
