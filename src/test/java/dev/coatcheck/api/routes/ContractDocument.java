package dev.coatcheck.api.routes;

import dev.coatcheck.api.routes.Contract.Answer;
import dev.coatcheck.api.routes.Contract.Outcome;
import dev.coatcheck.api.routes.Contract.Sent;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The contract as the tree that was written, and its examples as exchanges. */
record ContractDocument(JsonNode root) {
  record Operation(String path, String method, JsonNode node) {
    String id() {
      return node.path("operationId").stringValue();
    }
  }

  /** An example of the contract as if it had happened. */
  record Example(String name, Outcome outcome, Sent sent, Answer answer) {
    JsonNode answerJson() {
      return JSON.readTree(String.valueOf(answer.body()));
    }

    @Override
    public String toString() {
      return outcome.operationId() + " " + outcome.status() + " " + name;
    }
  }

  private static final JsonMapper JSON = new JsonMapper();
  private static final Set<String> METHODS =
      Set.of("get", "head", "post", "put", "patch", "delete", "options", "trace");

  private static final ContractDocument PACKAGED = parse();

  /** The contract that is packaged, parsed once. */
  static ContractDocument read() {
    return PACKAGED;
  }

  private static ContractDocument parse() {
    LoaderOptions strict = new LoaderOptions();
    strict.setAllowDuplicateKeys(false);
    Object tree = new Yaml(strict).load(Contract.text());
    return new ContractDocument(JSON.valueToTree(tree));
  }

  /** What {@code #/a/b} refers to; missing where it leads nowhere. */
  JsonNode at(String reference) {
    return root.at(reference.substring(1));
  }

  List<Operation> operations() {
    List<Operation> operations = new ArrayList<>();
    root.path("paths")
        .forEachEntry(
            (path, item) ->
                item.forEachEntry(
                    (method, node) -> {
                      if (METHODS.contains(method)) {
                        operations.add(new Operation(path, method, node));
                      }
                    }));
    return operations;
  }

  /** Each example request with each example of success, and each example of an error. */
  Stream<Example> examples() {
    return operations().stream().flatMap(operation -> examplesOf(operation).stream());
  }

  Example example(String operationId, int status) {
    return examples()
        .filter(example -> example.outcome().equals(new Outcome(operationId, status)))
        .findFirst()
        .orElseThrow(() -> new NoSuchElementException(operationId + " " + status));
  }

  /** Each example request of an operation by name, as the page sends it. */
  Map<String, Sent> requests(Operation operation) {
    Map<String, Sent> requests = new TreeMap<>();
    JsonNode content = operation.node().at("/requestBody/content");
    if (content.isEmpty()) {
      requests.put("no body", sent(operation, null, null));
    }
    content.forEachEntry(
        (mediaType, media) ->
            bodies(JSON.createObjectNode().set(mediaType, media))
                .forEach((name, body) -> requests.put(name, sent(operation, body, mediaType))));
    return requests;
  }

  private List<Example> examplesOf(Operation operation) {
    Map<String, @Nullable String> requests = bodies(operation.node().at("/requestBody/content"));
    List<Example> examples = new ArrayList<>();
    for (var declared : operation.node().path("responses").properties()) {
      int status = Integer.parseInt(declared.getKey());
      JsonNode response = resolve(declared.getValue());
      for (var request : requests.entrySet()) {
        for (var body : bodies(response.path("content")).entrySet()) {
          examples.add(
              new Example(
                  request.getKey() + " -> " + body.getKey(),
                  new Outcome(operation.id(), status),
                  sent(operation, request.getValue(), firstMediaType(operation)),
                  answer(status, response, body.getValue())));
        }
        if (status >= 300) {
          break; // one request is enough to show an error
        }
      }
    }
    return examples;
  }

  /** The example bodies by name; one that is null where there is no content. */
  private Map<String, @Nullable String> bodies(JsonNode content) {
    Map<String, @Nullable String> bodies = new TreeMap<>();
    content.forEachEntry(
        (mediaType, media) ->
            media
                .path("examples")
                .forEachEntry(
                    (name, example) -> {
                      JsonNode value = resolve(example).path("value");
                      bodies.put(name, value.isString() ? value.stringValue() : value.toString());
                    }));
    if (content.isEmpty()) {
      bodies.put("no body", null);
    }
    return bodies;
  }

  private static @Nullable String firstMediaType(Operation operation) {
    return operation.node().at("/requestBody/content").propertyNames().stream()
        .findFirst()
        .orElse(null);
  }

  private Sent sent(Operation operation, @Nullable String body, @Nullable String mediaType) {
    Map<String, List<String>> headers = new HashMap<>();
    headers.put("Authorization", List.of("Bearer ccg_live_example"));
    String path = operation.path();
    List<String> query = new ArrayList<>();
    List<JsonNode> parameters = new ArrayList<>();
    root.path("paths").path(path).path("parameters").forEach(parameters::add);
    operation.node().path("parameters").forEach(parameters::add);
    for (JsonNode declared : parameters) {
      JsonNode parameter = resolve(declared);
      if (!parameter.has("example")) {
        continue; // the page leaves it out, too
      }
      String name = parameter.path("name").stringValue();
      String example = parameter.path("example").asString();
      switch (parameter.path("in").stringValue()) {
        case "path" -> path = path.replace("{" + name + "}", example);
        case "query" -> query.add(name + "=" + URLEncoder.encode(example, StandardCharsets.UTF_8));
        case "header" -> headers.put(name, List.of(example));
        default -> throw new IllegalStateException("a parameter in a new place: " + parameter);
      }
    }
    if (body != null && mediaType != null) {
      headers.put("Content-Type", List.of(mediaType));
    }
    String target = query.isEmpty() ? path : path + "?" + String.join("&", query);
    return new Sent(operation.method().toUpperCase(Locale.ROOT), target, headers, body);
  }

  private Answer answer(int status, JsonNode response, @Nullable String body) {
    Map<String, List<String>> headers = new HashMap<>();
    headers.put("X-Content-Type-Options", List.of("nosniff"));
    response
        .path("headers")
        .forEachEntry(
            (name, header) ->
                headers.put(name, List.of(resolve(header).path("example").asString())));
    response.path("content").propertyNames().stream()
        .findFirst()
        .ifPresent(mediaType -> headers.put("Content-Type", List.of(mediaType)));
    return new Answer(status, headers, body);
  }

  /** The node itself, or what it refers to. */
  JsonNode resolve(JsonNode node) {
    return node.has("$ref") ? resolve(at(node.path("$ref").stringValue())) : node;
  }
}
