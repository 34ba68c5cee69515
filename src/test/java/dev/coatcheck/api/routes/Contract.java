package dev.coatcheck.api.routes;

import com.atlassian.oai.validator.OpenApiInteractionValidator;
import com.atlassian.oai.validator.interaction.ApiOperationResolver;
import com.atlassian.oai.validator.model.ApiOperation;
import com.atlassian.oai.validator.model.ApiOperationMatch;
import com.atlassian.oai.validator.model.Request;
import com.atlassian.oai.validator.model.SimpleRequest;
import com.atlassian.oai.validator.model.SimpleResponse;
import com.atlassian.oai.validator.report.MessageResolver;
import com.atlassian.oai.validator.report.ValidationReport;
import com.atlassian.oai.validator.report.ValidationReport.Level;
import com.atlassian.oai.validator.schema.SchemaValidator;
import io.swagger.v3.oas.models.Components;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.PathItem;
import io.swagger.v3.oas.models.parameters.Parameter;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.parser.OpenAPIV3Parser;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Judges exchanges by {@code openapi/coatcheck.yaml}, and remembers which documented outcomes it
 * saw. What the contract can't say in OpenAPI is checked by {@link ProblemRules}.
 */
final class Contract {
  /** A request as it went out; {@code target} is the path with the query. */
  record Sent(
      String method, String target, Map<String, List<String>> headers, @Nullable String body) {
    Sent {
      headers = anyCase(headers);
      target = target.startsWith(EXT_AUTHZ) ? EXT_AUTHZ + oneSegment(target) : target;
    }

    /** OpenAPI has no parameter of a path with slashes or a query in it. */
    private static String oneSegment(String target) {
      return URLEncoder.encode(target.substring(EXT_AUTHZ.length()), StandardCharsets.UTF_8);
    }

    String path() {
      return target.split("\\?", 2)[0];
    }

    boolean isJson() {
      return headers.getOrDefault("Content-Type", List.of()).contains("application/json");
    }
  }

  /** An answer as it came in; a body of null or "" is none. */
  record Answer(int status, Map<String, List<String>> headers, @Nullable String body) {
    Answer {
      headers = anyCase(headers);
      body = body == null || body.isEmpty() ? null : body;
    }

    @Nullable String header(String name) {
      List<String> values = headers.get(name);
      return values == null || values.isEmpty() ? null : values.getFirst();
    }
  }

  /** One status that one operation can answer with. */
  record Outcome(String operationId, int status) implements Comparable<Outcome> {
    @Override
    public int compareTo(Outcome other) {
      return Comparator.comparing(Outcome::operationId)
          .thenComparingInt(Outcome::status)
          .compare(this, other);
    }
  }

  private static final String EXT_AUTHZ = "/v1/urls/ext-authz/";
  private static final Contract LOADED = new Contract(text(), SeenOutcomes.ofRun());
  private static final String UNEXPECTED_QUERY = "validation.request.parameter.query.unexpected";

  private final SeenOutcomes seen;
  private final OpenAPI api;
  private final ApiOperationResolver operations;
  private final OpenApiInteractionValidator validator;
  private final SchemaValidator schemas;
  private final ProblemRules problems;

  private Contract(Contract other, SeenOutcomes seen) {
    this.seen = seen;
    api = other.api;
    operations = other.operations;
    validator = other.validator;
    schemas = other.schemas;
    problems = other.problems;
  }

  private Contract(String yaml, SeenOutcomes seen) {
    this.seen = seen;
    api = parsed(yaml);
    operations = new ApiOperationResolver(api, null, false);
    validator = OpenApiInteractionValidator.createFor(api).build();
    schemas = new SchemaValidator(api, new MessageResolver());
    problems = new ProblemRules(api);
  }

  /** Left to itself, the validator takes seconds to put each schema in the place of its name. */
  private static OpenAPI parsed(String yaml) {
    OpenAPI api = new OpenAPIV3Parser().readContents(yaml).getOpenAPI();
    Components shared = api.getComponents();
    shared.getResponses().values().forEach(response -> resolveHeaders(response, shared));
    for (PathItem path : api.getPaths().values()) {
      resolveParameters(path.getParameters(), shared);
      for (Operation operation : path.readOperations()) {
        resolveParameters(operation.getParameters(), shared);
        Map<String, ApiResponse> responses = operation.getResponses();
        responses.replaceAll((_, one) -> meant(one, one.get$ref(), shared.getResponses()));
        responses.values().forEach(response -> resolveHeaders(response, shared));
      }
    }
    return api;
  }

  private static void resolveParameters(@Nullable List<Parameter> parameters, Components shared) {
    if (parameters != null) {
      parameters.replaceAll(one -> meant(one, one.get$ref(), shared.getParameters()));
    }
  }

  private static void resolveHeaders(ApiResponse response, Components shared) {
    if (response.getHeaders() != null) {
      response.getHeaders().replaceAll((_, one) -> meant(one, one.get$ref(), shared.getHeaders()));
    }
  }

  private static <T> T meant(T given, @Nullable String reference, Map<String, T> shared) {
    return reference == null
        ? given
        : Objects.requireNonNull(shared.get(reference.replaceAll(".*/", "")), reference);
  }

  /** The contract that is packaged, the same object for the whole run, so that it sees it all. */
  static Contract load() {
    return LOADED;
  }

  /** The same contract with a memory of its own, for exchanges that never happened. */
  static Contract withoutMemory() {
    return new Contract(LOADED, SeenOutcomes.inMemory());
  }

  /** The contract's text. */
  static String text() {
    try (InputStream yaml = Contract.class.getResourceAsStream("/openapi/coatcheck.yaml")) {
      return new String(
          Objects.requireNonNull(yaml, "openapi/coatcheck.yaml is not on the class path")
              .readAllBytes(),
          StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Fails unless both the request and the answer keep the contract. */
  void check(Sent sent, Answer answer) {
    judge(sent, answer, true);
  }

  /**
   * Fails unless the answer keeps the contract. The request may break it on purpose, but then it
   * must not be answered with success.
   */
  void checkAnswer(Sent sent, Answer answer) {
    judge(sent, answer, answer.status() < 400);
  }

  /** What the contract says of each code, in its order. */
  Map<String, ProblemRules.Code> codes() {
    return ProblemRules.codesOf(api);
  }

  /** Every documented outcome but 500, which is never the right one. */
  NavigableSet<Outcome> documented() {
    NavigableSet<Outcome> all = new TreeSet<>();
    for (PathItem path : api.getPaths().values()) {
      path.readOperations()
          .forEach(
              operation ->
                  operation.getResponses().keySet().stream()
                      .map(
                          status ->
                              new Outcome(operation.getOperationId(), Integer.parseInt(status)))
                      .filter(outcome -> outcome.status() != 500)
                      .forEach(all::add));
    }
    return all;
  }

  /** The documented outcomes that no check has seen so far. */
  NavigableSet<Outcome> unexercised() {
    NavigableSet<Outcome> rest = documented();
    rest.removeAll(seen.all());
    return rest;
  }

  private void judge(Sent sent, Answer answer, boolean requestIsValid) {
    List<String> violations = new ArrayList<>();
    Optional<ApiOperation> operation = operation(sent);
    if (answer.status() == 500) {
      violations.add("answer: 500 is never the right answer");
    }
    // Of every answer, so that the contract doesn't declare it.
    if (!"nosniff".equals(answer.header("X-Content-Type-Options"))) {
      violations.add("answer: no X-Content-Type-Options");
    }
    if (operation.isPresent()) {
      seen.add(new Outcome(operation.get().getOperation().getOperationId(), answer.status()));
      addErrors(
          violations,
          "answer",
          validator.validateResponse(
              sent.path(), Request.Method.valueOf(sent.method()), response(answer)));
      if (requestIsValid) {
        judgeRequest(violations, sent, answer, operation.get());
      }
    } else {
      judgeOffContract(violations, sent, answer);
    }
    violations.addAll(problems.violations(answer));
    if (!violations.isEmpty()) {
      throw new AssertionError(report(sent, answer, violations));
    }
  }

  private void judgeRequest(
      List<String> violations, Sent sent, Answer answer, ApiOperation operation) {
    ValidationReport report = validator.validateRequest(request(sent));
    addErrors(violations, "request", report);
    // Under /v1 an unknown parameter is refused; elsewhere a query is ignored.
    if (sent.path().startsWith("/v1/")) {
      report.getMessages().stream()
          .filter(message -> message.getKey().equals(UNEXPECTED_QUERY))
          .forEach(message -> violations.add("request: " + message.getMessage()));
    }
    if (sent.body() != null && sent.isJson()) {
      ProblemRules.strictnessViolation(sent.body())
          .ifPresent(reason -> violations.add("request: " + reason));
    }
    // The validator overlooks security that is declared for the whole contract.
    boolean open = operation.getOperation().getSecurity() != null;
    if (!open && answer.status() < 400 && !sent.headers().containsKey("Authorization")) {
      violations.add("answer: succeeded without an API key");
    }
  }

  /** Whatever is not in the contract is answered with a problem. */
  private void judgeOffContract(List<String> violations, Sent sent, Answer answer) {
    if (answer.status() < 400) {
      violations.add("answer: succeeded, but the contract has no such path and method");
    }
    if (answer.header("Request-Id") == null) {
      violations.add("answer: no Request-Id");
    }
    if (answer.status() == 405 && answer.header("Allow") == null) {
      violations.add("answer: 405 without Allow");
    }
    if (!sent.method().equals("HEAD")) {
      if (!"application/problem+json".equals(answer.header("Content-Type"))) {
        violations.add("answer: Content-Type is not application/problem+json");
      }
      String body = answer.body() == null ? "" : answer.body();
      addErrors(
          violations,
          "answer",
          schemas.validate(body, api.getComponents().getSchemas().get("Problem"), "response.body"));
    }
  }

  private Optional<ApiOperation> operation(Sent sent) {
    try {
      ApiOperationMatch match =
          operations.findApiOperation(sent.path(), Request.Method.valueOf(sent.method()));
      return match.isPathFound() && match.isOperationAllowed()
          ? Optional.of(match.getApiOperation())
          : Optional.empty();
    } catch (IllegalArgumentException e) { // an unknown method, or a path that can't be decoded
      return Optional.empty();
    }
  }

  private static SimpleRequest request(Sent sent) {
    SimpleRequest.Builder request =
        new SimpleRequest.Builder(sent.method().toUpperCase(Locale.ROOT), sent.path());
    sent.headers().forEach(request::withHeader);
    Map<String, List<String>> query = new TreeMap<>();
    int mark = sent.target().indexOf('?');
    for (String pair : mark < 0 ? new String[0] : sent.target().substring(mark + 1).split("&")) {
      String[] nameAndValue = pair.split("=", 2);
      query
          .computeIfAbsent(decode(nameAndValue[0]), name -> new ArrayList<>())
          .add(nameAndValue.length == 2 ? decode(nameAndValue[1]) : "");
    }
    query.forEach(request::withQueryParam);
    if (sent.body() == null) {
      // Otherwise the validator misses the type of a body that need not be there.
      request.withContentType("application/json");
    } else {
      request.withBody(sent.body());
    }
    return request.build();
  }

  private static SimpleResponse response(Answer answer) {
    SimpleResponse.Builder response = SimpleResponse.Builder.status(answer.status());
    answer.headers().forEach(response::withHeader);
    if (answer.body() != null) {
      response.withBody(answer.body());
    } else if (String.valueOf(answer.header("Content-Type")).startsWith("application/x-ndjson")) {
      response.withBody("\n"); // no lines are a body too
    }
    return response.build();
  }

  private static void addErrors(List<String> violations, String side, ValidationReport report) {
    for (ValidationReport.Message message : report.getMessages()) {
      if (message.getLevel() == Level.ERROR) {
        violations.add(side + ": " + message);
      }
    }
  }

  private static String report(Sent sent, Answer answer, List<String> violations) {
    return "%s %s -> %d breaks the contract:%n  %s%nsent: %s%nanswered: %s"
        .formatted(
            sent.method(),
            sent.target(),
            answer.status(),
            String.join(System.lineSeparator() + "  ", violations),
            sent.body(),
            answer.body());
  }

  private static String decode(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }

  private static Map<String, List<String>> anyCase(Map<String, List<String>> headers) {
    Map<String, List<String>> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    headers.forEach(
        (name, values) -> copy.computeIfAbsent(name, first -> new ArrayList<>()).addAll(values));
    return copy;
  }
}
