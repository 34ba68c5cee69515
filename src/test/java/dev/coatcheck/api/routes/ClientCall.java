package dev.coatcheck.api.routes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * A call that a program makes through a generated client.
 *
 * @param operation its method has this name in every language
 * @param parameters all of the operation by their names in a client, null for those left out
 * @param times the names of the parameters that are times
 * @param body JSON, or the text of a file
 * @param bodySchema the schema of a body in JSON
 */
record ClientCall(
    String operation,
    Map<String, @Nullable String> parameters,
    List<String> times,
    @Nullable JsonNode body,
    @Nullable String bodySchema) {
  private static final JsonMapper JSON = new JsonMapper();
  private static final ContractDocument DOCUMENT = ContractDocument.read();

  /**
   * The calls of a table, and after them one with the examples of the contract for each operation
   * that the table leaves out. A line of the table has an operation, parameters as {@code
   * name=value}, and after a bar the body; a slash between two spaces ends a line of a file.
   *
   * @param run the table migration of the calls that the table leaves out
   */
  static List<ClientCall> all(String table, String run) {
    Map<String, ContractDocument.Operation> left = new LinkedHashMap<>();
    DOCUMENT.operations().forEach(operation -> left.put(operation.id(), operation));
    List<ClientCall> calls = new ArrayList<>();
    for (String line : table.lines().toList()) {
      String[] parts = line.split(" [|] ", 2);
      List<String> words = List.of(parts[0].split(" ", -1));
      Map<String, String> values = new LinkedHashMap<>();
      for (String word : words.subList(1, words.size())) {
        String[] nameAndValue = word.split("=", 2);
        values.put(nameAndValue[0], nameAndValue[1]);
      }
      ContractDocument.Operation operation =
          Objects.requireNonNull(left.remove(words.getFirst()), line);
      calls.add(of(operation, values, parts.length == 2 ? parts[1] : null));
    }
    for (ContractDocument.Operation operation : left.values()) {
      boolean isOfRun = operation.path().startsWith("/v1/table-migrations/{id}");
      calls.add(of(operation, isOfRun ? Map.of("id", run) : Map.of(), example(operation.id())));
    }
    return calls;
  }

  /** The file that programs read. */
  static String json(List<ClientCall> calls) {
    return JSON.writeValueAsString(calls);
  }

  private static ClientCall of(
      ContractDocument.Operation operation, Map<String, String> values, @Nullable String body) {
    Map<String, @Nullable String> parameters = new LinkedHashMap<>();
    List<String> times = new ArrayList<>();
    for (JsonNode declared : operation.node().path("parameters")) {
      JsonNode parameter = DOCUMENT.resolve(declared);
      String name = parameter.path("name").stringValue();
      String value = values.get(name);
      if (value == null && parameter.path("required").asBoolean(false)) {
        value = parameter.path("example").asString();
      }
      parameters.put(nameInClient(name), value);
      JsonNode schema = DOCUMENT.resolve(parameter.path("schema"));
      if (schema.path("format").asString("").equals("date-time")) {
        times.add(nameInClient(name));
      }
    }
    String bodySchema = schema(operation.node().at("/requestBody/content"));
    return new ClientCall(operation.id(), parameters, times, tree(body, bodySchema), bodySchema);
  }

  private static @Nullable JsonNode tree(@Nullable String body, @Nullable String schema) {
    if (body == null) {
      return null;
    }
    return schema == null
        ? JsonNodeFactory.instance.stringNode(body.replace(" / ", "\n") + "\n")
        : JSON.readTree(body);
  }

  private static @Nullable String example(String operationId) {
    Optional<ContractDocument.Example> first =
        DOCUMENT
            .examples()
            .filter(example -> example.outcome().operationId().equals(operationId))
            .findFirst();
    return first.isEmpty() ? null : first.get().sent().body();
  }

  /** The schema of the first media type, if it has a name, as schemas of JSON do. */
  private static @Nullable String schema(JsonNode content) {
    for (JsonNode media : content) {
      String reference = media.at("/schema/$ref").asString("");
      return reference.isEmpty() ? null : reference.substring(reference.lastIndexOf('/') + 1);
    }
    return null;
  }

  /** {@code xOriginalURI} for {@code X-Original-URI}, {@code errorsMax} for {@code errors_max}. */
  private static String nameInClient(String name) {
    String camel =
        Arrays.stream(name.split("[-_]"))
            .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
            .collect(Collectors.joining());
    return camel.substring(0, 1).toLowerCase(Locale.ROOT) + camel.substring(1);
  }
}
