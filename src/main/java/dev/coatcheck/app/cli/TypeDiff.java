package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Misused;
import dev.coatcheck.app.client.Output;
import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.ids.registry.ClientNames;
import dev.coatcheck.ids.registry.Policies;
import dev.coatcheck.ids.registry.RedirectHosts;
import java.io.PrintWriter;
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

/** What a put would change about a type, field by field. */
final class TypeDiff {
  private final SequencedMap<String, List<String>> before;
  private final SequencedMap<String, List<String>> after;

  private TypeDiff(
      SequencedMap<String, List<String>> before, SequencedMap<String, List<String>> after) {
    this.before = before;
    this.after = after;
  }

  /**
   * The difference of a type and the body of a put.
   *
   * @param type as the gateway has it, if there is one
   */
  static TypeDiff of(String name, Optional<JsonNode> type, JsonNode body) throws Misused {
    SequencedMap<String, List<String>> after = Output.flat(Output.object(whole(name, type, body)));
    SequencedMap<String, List<String>> before =
        Output.flat(type.orElseGet(JsonNodeFactory.instance::objectNode));
    before.keySet().removeIf(TypesCommand::isOfTheGateway);
    return new TypeDiff(before, after);
  }

  /** The type as a put would leave it: what the body leaves out has its default. */
  private static Map<String, @Nullable Object> whole(
      String name, Optional<JsonNode> type, JsonNode body) throws Misused {
    KeyKind kind =
        WireNamed.find(KeyKind.class, text(body, "key").orElse(""))
            .orElseThrow(() -> new Misused("the key of a type must be bigint or uuid."));
    String generate = text(body, "generate").orElseGet(() -> KeyGeneration.usual(kind).wireName());
    Map<String, @Nullable Object> whole = new LinkedHashMap<>();
    whole.put("prefix", text(body, "prefix").orElse(null));
    whole.put("key", kind.wireName());
    whole.put("generate", generate);
    whole.put(
        "layout",
        generate.equals(KeyGeneration.SNOWFLAKE) ? text(body, "layout").orElse("default") : null);
    whole.put("tag", text(body, "tag").orElse(null));
    try {
      whole.putAll(Policies.read(JsonObject.of(body), name, kind, RedirectHosts.any()).json());
    } catch (JsonFault fault) {
      throw new Misused(fault.field() + ": " + fault.detail());
    }
    whole.put(
        "client_names",
        text(body, "client_names")
            .or(() -> type.flatMap(old -> text(old, "client_names")))
            .orElseGet(ClientNames.DEFAULT::wireName));
    // What a type seals stays if it is left out.
    whole.put(
        "sealed",
        body.path("sealed").isObject()
            ? body.path("sealed")
            : type.map(old -> old.path("sealed")).orElse(null));
    return whole;
  }

  private static Optional<String> text(JsonNode object, String field) {
    return Optional.of(object.path(field)).filter(JsonNode::isString).map(JsonNode::asString);
  }

  /**
   * Prints {@code - field value} for what goes and {@code + field value} for what comes.
   *
   * @return the exit status: 0 if nothing would change, or else 1
   */
  int print(Output output) throws CommandFailed {
    Set<String> fields = new LinkedHashSet<>(before.sequencedKeySet());
    fields.addAll(after.sequencedKeySet());
    boolean isSame = true;
    for (String field : fields) {
      List<String> old = before.getOrDefault(field, List.of());
      List<String> next = after.getOrDefault(field, List.of());
      if (!old.equals(next)) {
        isSame = false;
        output.print(
            Output.object(Map.of("field", field, "old", old, "new", next)),
            out -> {
              old.forEach(value -> print(out, '-', field, value, next));
              next.forEach(value -> print(out, '+', field, value, old));
            });
      }
    }
    return (isSame ? ExitCode.DONE : ExitCode.FAILED).status();
  }

  /** A line for a value that has gone or come; a list may only have another order. */
  private static void print(
      PrintWriter out, char sign, String field, String value, List<String> others) {
    if (!others.contains(value)) {
      out.println(sign + " " + field + " " + value);
    }
  }
}
