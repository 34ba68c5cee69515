package dev.coatcheck.api.routes;

import dev.coatcheck.api.routes.Contract.Answer;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.media.Schema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * What every body promises beyond its schema: strict JSON, a code that goes with its status, its
 * page and its lists, the request ID of the header, and lists whose entries count from 0 and have
 * one content each.
 */
final class ProblemRules {
  /** What {@code x-codes} in the contract says of a code. */
  record Code(String group, int status, String title, String meaning, String next) {}

  /** What an entry of a batch can contain. */
  private static final List<String> CONTENTS = List.of("public_id", "resolved_url", "error");

  /** Lists in problems, each with the code that it belongs to. */
  private static final Map<String, String> LISTS =
      Map.of(
          "errors", "batch_refused",
          "refusals", "table_migration_refused",
          "preconditions", "preconditions_not_accepted",
          "dying_links", "links_would_die",
          "violated-policies", "quota_exceeded");

  /** Codes whose types the draft of the RateLimit headers registers. */
  private static final Map<String, String> REGISTERED =
      Map.of(
          "quota_exceeded", "quota-exceeded",
          "overloaded", "temporary-reduced-capacity",
          "abnormal_usage_detected", "abnormal-usage-detected");

  private static final JsonMapper STRICT =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private final Map<String, Code> codes;

  ProblemRules(OpenAPI api) {
    codes = codesOf(api);
  }

  /** Every code of the contract with its status, in the order of the contract. */
  static Map<String, Code> codesOf(OpenAPI api) {
    Schema<?> schema = Objects.requireNonNull(api.getComponents().getSchemas().get("ProblemCode"));
    Object table = schema.getExtensions().get("x-codes");
    Map<String, Code> codes = new LinkedHashMap<>();
    STRICT
        .valueToTree(table)
        .forEachEntry((code, entry) -> codes.put(code, STRICT.treeToValue(entry, Code.class)));
    return codes;
  }

  /** Why a text is not one JSON value without duplicate names; empty if it is one. */
  static Optional<String> strictnessViolation(String json) {
    try {
      STRICT.readTree(json);
      return Optional.empty();
    } catch (JacksonException e) {
      return Optional.of("not strict JSON: " + e.getOriginalMessage());
    }
  }

  List<String> violations(Answer answer) {
    String contentType = answer.header("Content-Type");
    if (answer.body() == null) {
      return List.of();
    }
    if (contentType == null) {
      return List.of("answer: a body without Content-Type");
    }
    if (!contentType.matches("application/(problem\\+)?json(;.*)?")) {
      return List.of();
    }
    Optional<String> notStrict = strictnessViolation(answer.body());
    if (notStrict.isPresent()) {
      return List.of("answer: " + notStrict.get());
    }
    List<String> violations = new ArrayList<>();
    JsonNode body = STRICT.readTree(answer.body());
    if (contentType.startsWith("application/problem+json")) {
      addProblem(violations, body, answer);
    }
    addEntries(violations, body.path("data"), true);
    addEntries(violations, body.path("errors"), false);
    return violations;
  }

  private void addProblem(List<String> violations, JsonNode body, Answer answer) {
    String code = body.path("code").asString("");
    addCode(violations, body.path("code"), answer.status());
    if (body.path("status").asInt(-1) != answer.status()) {
      violations.add("answer: the problem's status is not the answer's");
    }
    String registered = REGISTERED.get(code);
    String page =
        registered == null
            ? "/docs/errors#" + code
            : "https://iana.org/assignments/http-problem-types#" + registered;
    if (!body.path("type").asString("").equals(page)) {
      violations.add("answer: the problem's type is not the page of " + code);
    }
    boolean replayed = answer.header("Idempotent-Replayed") != null; // byte for byte as it was
    if (!replayed && !body.path("request_id").asString("").equals(answer.header("Request-Id"))) {
      violations.add("answer: request_id differs from Request-Id");
    }
    boolean malformedId = code.equals("public_id_malformed");
    if (body.has("reason") != malformedId || body.has("position") != malformedId) {
      violations.add("answer: reason and position belong to public_id_malformed, and only there");
    }
    LISTS.forEach(
        (list, owner) -> {
          if (body.has(list) != code.equals(owner)) {
            violations.add("answer: " + list + " belongs to " + owner + ", and only there");
          }
        });
  }

  private void addEntries(List<String> violations, JsonNode entries, boolean allIndexes) {
    for (int i = 0; i < entries.size(); i++) {
      JsonNode entry = entries.get(i);
      if (entry.has("index")) {
        boolean isError = entry.path("status").asInt(-1) >= 400;
        long contents = CONTENTS.stream().filter(entry::has).count();
        if (contents != 1 || entry.has("error") != isError) {
          violations.add("answer: entry " + i + " needs one content that goes with its status");
        }
      }
      if (entry.has("error")) {
        addCode(violations, entry.path("error").path("code"), entry.path("status").asInt(-1));
      }
      if (allIndexes && entry.has("index") && entry.path("index").asInt(-1) != i) {
        violations.add("answer: entry " + i + " has the index " + entry.path("index"));
      }
    }
  }

  private void addCode(List<String> violations, JsonNode code, int status) {
    Code known = codes.get(code.asString(""));
    if (known == null) {
      violations.add("answer: unknown code " + code);
    } else if (known.status() != status) {
      violations.add("answer: " + code + " has the status " + known.status() + ", not " + status);
    }
  }
}
