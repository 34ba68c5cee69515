package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.routes.Contract.Answer;
import dev.coatcheck.api.routes.Contract.Outcome;
import dev.coatcheck.api.routes.Contract.Sent;
import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.PublicId;
import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.SwaggerParseResult;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** The contract is well formed, its examples keep it, and what breaks it is noticed. */
class ContractTest {
  private static final ContractDocument DOCUMENT = ContractDocument.read();
  private static final Pattern PUBLIC_ID = Pattern.compile("[a-z][a-z0-9_]*_[0-9A-Za-z]{24}");
  private static final Contract CONTRACT = Contract.withoutMemory();

  @Test
  void parsesWithoutWarnings() {
    SwaggerParseResult result = new OpenAPIV3Parser().readContents(Contract.text());

    assertThat(result.getMessages()).isEmpty();
    assertThat(result.isOpenapi31()).isTrue();
  }

  @Test
  void everyReferenceLeadsSomewhere() {
    List<String> references =
        DOCUMENT.root().findValues("$ref").stream().map(JsonNode::stringValue).toList();

    assertThat(references).hasSizeGreaterThan(100);
    assertThat(references).allMatch(reference -> DOCUMENT.at(reference).isObject());
  }

  @Test
  void everyComponentIsUsed() {
    List<String> references =
        DOCUMENT.root().findValues("$ref").stream().map(JsonNode::stringValue).toList();
    List<String> components = new ArrayList<>();
    for (String kind : List.of("parameters", "headers", "responses", "examples", "schemas")) {
      DOCUMENT
          .root()
          .at("/components/" + kind)
          .propertyNames()
          .forEach(name -> components.add("#/components/" + kind + "/" + name));
    }

    assertThat(references).containsAll(components);
  }

  @Test
  void everyOperationSaysWhatItIs() {
    assertThat(DOCUMENT.operations())
        .allSatisfy(
            operation -> {
              assertThat(operation.node().path("summary").asString("")).isNotBlank();
              assertThat(operation.node().path("description").asString("")).isNotBlank();
              assertThat(operation.node().path("tags").size()).isEqualTo(1);
              assertThat(operation.id()).matches("[a-z][A-Za-z]+");
            });
    assertThat(DOCUMENT.operations())
        .extracting(ContractDocument.Operation::id)
        .doesNotHaveDuplicates();
    assertThat(DOCUMENT.root().path("tags").findValuesAsString("name"))
        .containsExactlyInAnyOrderElementsOf(
            DOCUMENT.operations().stream()
                .map(operation -> operation.node().at("/tags/0").stringValue())
                .distinct()
                .toList());
  }

  @Test
  void everyOperationDocumentsItsErrors() {
    assertThat(DOCUMENT.operations())
        .allSatisfy(
            operation ->
                assertThat(operation.node().path("responses").propertyNames())
                    .as(operation.id())
                    .anyMatch(status -> status.startsWith("4")));
  }

  /** Generators name such an enum, or such an object, by its place, and two may get one name. */
  @Test
  void everyEnumAndEveryObjectHasAName() {
    List<String> nameless = new ArrayList<>();
    visit(
        "",
        DOCUMENT.root(),
        (place, node) -> {
          if ((node.path("enum").isArray() || node.path("properties").isObject())
              && !place.matches("/components/schemas/\\w+")) {
            nameless.add(place);
          }
        });

    assertThat(nameless).isEmpty();
  }

  /** Clients can't tell apart shapes that have fields in common, and lose them. */
  @Test
  void everySchemaIsOneShapeOrNull() {
    List<String> ambiguous = new ArrayList<>();
    visit(
        "",
        DOCUMENT.root(),
        (place, node) -> {
          JsonNode any = node.path("anyOf");
          boolean isOneOrNull =
              any.isMissingNode()
                  || (any.size() == 2 && any.at("/1/type").asString().equals("null"));
          if (node.has("oneOf") || node.has("allOf") || !isOneOrNull) {
            ambiguous.add(place);
          }
        });

    assertThat(ambiguous).isEmpty();
  }

  /** TypeScript's generator calls the parameters of an operation so. */
  @Test
  void noSchemaIsNamedLikeTheParametersOfAnOperation() {
    List<String> taken =
        DOCUMENT.operations().stream()
            .map(operation -> operation.id() + "Request")
            .map(name -> name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1))
            .toList();

    assertThat(DOCUMENT.root().at("/components/schemas").propertyNames())
        .doesNotContainAnyElementsOf(taken);
  }

  /** A client has 32 bits for a number of which it knows no more. */
  @Test
  void everyIntegerHasAMaximumOrIsLong() {
    List<String> unbounded = new ArrayList<>();
    visit(
        "",
        DOCUMENT.root().at("/components/schemas"),
        (place, node) -> {
          if (node.path("type").toString().contains("\"integer\"")
              && !node.has("maximum")
              && !node.has("enum")
              && !node.path("format").asString("").equals("int64")) {
            unbounded.add(place);
          }
        });

    assertThat(unbounded).isEmpty();
  }

  /** A client reads any other answer as JSON. */
  @Test
  void everyFileIsBinary() {
    List<String> unread = new ArrayList<>();
    for (ContractDocument.Operation operation : DOCUMENT.operations()) {
      for (var response : operation.node().path("responses").properties()) {
        for (var media : DOCUMENT.resolve(response.getValue()).path("content").properties()) {
          if (response.getKey().startsWith("2")
              && !List.of("application/json", "text/plain", "text/event-stream")
                  .contains(media.getKey())
              && !media.getValue().at("/schema/format").asString("").equals("binary")) {
            unread.add(operation.id() + " " + media.getKey());
          }
        }
      }
    }

    assertThat(unread).isEmpty();
  }

  /** An empty list is sent for a list that was left out, and a default for any other field. */
  @Test
  void aPatchHasNoDefaultAndNoListThatCantBeNull() {
    List<String> sent = new ArrayList<>();
    for (ContractDocument.Operation operation : DOCUMENT.operations()) {
      for (JsonNode media : operation.node().at("/requestBody/content")) {
        JsonNode fields = DOCUMENT.resolve(media.path("schema")).path("properties");
        if (operation.method().equals("patch")) {
          fields.forEachEntry(
              (name, field) -> {
                boolean mayBeNull = field.has("anyOf");
                JsonNode schema = DOCUMENT.resolve(mayBeNull ? field.at("/anyOf/0") : field);
                boolean isList = schema.path("type").asString("").equals("array");
                if (schema.has("default") || (isList && !mayBeNull)) {
                  sent.add(operation.id() + " " + name);
                }
              });
        }
      }
    }

    assertThat(sent).isEmpty();
  }

  /** Visits the schemas and all around them; what examples contain is no schema. */
  private static void visit(String place, JsonNode node, BiConsumer<String, JsonNode> visitor) {
    visitor.accept(place, node);
    node.forEachEntry(
        (name, child) -> {
          if (!name.matches("examples?")) {
            visit(place + "/" + name, child, visitor);
          }
        });
    for (int i = 0; node.isArray() && i < node.size(); i++) {
      visit(place + "/" + i, node.get(i), visitor);
    }
  }

  /** All but 500, which the contract never accepts, and errors that others are the same as. */
  static Stream<ContractDocument.Example> examples() {
    Set<Answer> errors = new HashSet<>();
    return DOCUMENT
        .examples()
        .filter(example -> example.outcome().status() != 500)
        .filter(example -> example.outcome().status() < 400 || errors.add(example.answer()));
  }

  @ParameterizedTest
  @MethodSource("examples")
  void everyExampleKeepsTheContract(ContractDocument.Example example) {
    CONTRACT.check(example.sent(), example.answer());
  }

  @Test
  void everyDocumentedOutcomeHasAnExample() {
    List<Outcome> shown = DOCUMENT.examples().map(ContractDocument.Example::outcome).toList();

    assertThat(shown).containsAll(CONTRACT.documented());
  }

  @Test
  void everyPublicIdShownIsOne() {
    List<String> shown =
        PUBLIC_ID.matcher(Contract.text()).results().map(id -> id.group()).distinct().toList();

    assertThat(shown).hasSizeGreaterThan(3);
    assertThat(shown).allMatch(text -> PublicId.parse(text) instanceof ParsedId.Valid);
  }

  @Test
  void everyCodeIsListedOnceWithItsStatusAndMeaning() {
    JsonNode schema = DOCUMENT.root().at("/components/schemas/ProblemCode");
    List<String> codes = schema.path("enum").valueStream().map(JsonNode::stringValue).toList();

    assertThat(codes).doesNotHaveDuplicates();
    assertThat(schema.path("x-codes").propertyNames()).containsExactlyElementsOf(codes);
    assertThat(CONTRACT.codes().values())
        .allSatisfy(
            code -> {
              assertThat(code.status()).isBetween(400, 599);
              assertThat(code.title()).isNotBlank();
              assertThat(code.meaning()).endsWith(".");
            });
  }

  @Test
  void theContractHasTheCodesOfTheGatewayWithTheirStatusesAndTitles() {
    assertThat(CONTRACT.codes()).hasSameSizeAs(ProblemCode.values());
    for (ProblemCode code : ProblemCode.values()) {
      assertThat(CONTRACT.codes())
          .hasEntrySatisfying(
              code.wireName(),
              known -> {
                assertThat(known.status()).isEqualTo(code.status());
                assertThat(known.title()).isEqualTo(code.title());
              });
    }
  }

  @Test
  void problemExamplesUseTheTitlesOfTheirCodes() {
    assertThat(DOCUMENT.examples().filter(example -> example.answer().status() >= 400))
        .filteredOn(example -> example.answer().body() != null)
        .allSatisfy(
            example -> {
              JsonNode body = example.answerJson();
              String code = body.path("code").stringValue();
              assertThat(CONTRACT.codes())
                  .hasEntrySatisfying(
                      code,
                      known ->
                          assertThat(body.path("title").stringValue()).isEqualTo(known.title()));
            });
  }

  /** Each line breaks a good exchange in one place: replace the left by the right. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          `"key":"514719115370328064"` | `"key":514719115370328064`
          `"key":"5` | `"key":"05`
          `"object":"public_id"` | `"object":"id"`
          `"status":"active",` | ``
          `"status":"active"` | `"status":"active","shard":7`
          `"status":"active"` | `"status":"active","status":"active"`
          `11Z` | `11+01:00`
          `411Z"}` | `411Z"} x`
          `_4KIW` | `-4KIW`
          """)
  void aWrongBodyIsNoticed(String good, String bad) {
    ContractDocument.Example example = DOCUMENT.example("resolveId", 200);
    Answer answer = example.answer();
    String body = answer.body() == null ? "" : answer.body();
    assertThat(body).contains(good);

    assertThatThrownBy(
            () ->
                CONTRACT.check(
                    example.sent(), new Answer(200, answer.headers(), body.replace(good, bad))))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("answer: ");
  }

  @ParameterizedTest
  @CsvSource({
    "listTypes, 401, WWW-Authenticate",
    "listTypes, 503, Retry-After",
    "getType, 200, ETag",
    "getType, 200, Content-Type",
    "redirect, 302, Location",
    "redirect, 404, Cache-Control",
    "headRedirect, 404, Request-Id",
    "listTypes, 200, X-Content-Type-Options",
  })
  void aMissingHeaderIsNoticed(String operation, int status, String header) {
    ContractDocument.Example example = DOCUMENT.example(operation, status);
    Answer answer = example.answer();
    answer.headers().remove(header);

    assertThatThrownBy(() -> CONTRACT.check(example.sent(), answer))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(header);
  }

  @Test
  void aCodeWithAnotherStatusIsNoticed() {
    ContractDocument.Example example = DOCUMENT.example("listTypes", 503);
    String body =
        String.valueOf(example.answer().body())
            .replace("database_unavailable", "precondition_failed");

    assertThatThrownBy(
            () -> CONTRACT.check(example.sent(), new Answer(503, example.answer().headers(), body)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("has the status 412, not 503");
  }

  @Test
  void anEntryWhoseContentContradictsItsStatusIsNoticed() {
    ContractDocument.Example example = DOCUMENT.example("resolveBatch", 200);
    String body =
        String.valueOf(example.answer().body()).replace("\"status\":404", "\"status\":200");

    assertThatThrownBy(
            () -> CONTRACT.check(example.sent(), new Answer(200, example.answer().headers(), body)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("entry 2 needs one content");
  }

  @Test
  void aListThatBelongsToAnotherProblemIsNoticed() {
    ContractDocument.Example example = DOCUMENT.example("mintBatch", 422);
    String body =
        String.valueOf(example.answer().body()).replace("batch_refused", "idempotency_key_reused");

    assertThatThrownBy(
            () -> CONTRACT.check(example.sent(), new Answer(422, example.answer().headers(), body)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("errors belongs to batch_refused");
  }

  @Test
  void anUndocumentedStatusIsNoticed() {
    ContractDocument.Example example = DOCUMENT.example("listTypes", 200);
    Answer answer = example.answer();

    assertThatThrownBy(
            () -> CONTRACT.check(example.sent(), new Answer(202, answer.headers(), answer.body())))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("202");
  }

  @Test
  void successWithoutAnApiKeyIsNoticed() {
    ContractDocument.Example example = DOCUMENT.example("listTypes", 200);
    Sent anonymous = new Sent("GET", "/v1/types", Map.of(), null);

    assertThatThrownBy(() -> CONTRACT.checkAnswer(anonymous, example.answer()))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("succeeded without an API key");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          /v1/ids | `{"type":"charge","kye":"1"}`
          /v1/ids | `{"type":"charge","key":1}`
          /v1/ids | `{"type":"charge","type":"user"}`
          /v1/ids?dry_run=1 | `{"type":"charge"}`
          """)
  void successForABadRequestIsNoticed(String target, String body) {
    ContractDocument.Example example = DOCUMENT.example("mintId", 201);
    Sent bad = new Sent("POST", target, example.sent().headers(), body);

    assertThatThrownBy(() -> CONTRACT.checkAnswer(bad, example.answer()))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("request: ");
  }

  @Test
  void whatIsNotInTheContractIsAnsweredWithAProblem() {
    ContractDocument.Example example = DOCUMENT.example("redirect", 404);
    Sent nowhere = new Sent("GET", "/v2/ids", Map.of(), null);

    CONTRACT.check(nowhere, example.answer());
    assertThatThrownBy(
            () ->
                CONTRACT.check(
                    nowhere, new Answer(404, example.answer().headers(), "{\"error\":\"none\"}")))
        .isInstanceOf(AssertionError.class);
    assertThatThrownBy(() -> CONTRACT.check(nowhere, DOCUMENT.example("listTypes", 200).answer()))
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void aRefusedMethodSaysWhatIsAllowed() {
    Answer notFound = DOCUMENT.example("redirect", 404).answer();
    String body =
        String.valueOf(notFound.body())
            .replace("not_found", "method_not_allowed")
            .replace("404", "405");
    Answer answer = new Answer(405, notFound.headers(), body);
    Sent trace = new Sent("TRACE", "/v1/ids", Map.of(), null);

    assertThatThrownBy(() -> CONTRACT.check(trace, answer)).hasMessageContaining("Allow");
    answer.headers().put("Allow", List.of("GET, POST"));
    CONTRACT.check(trace, answer);
  }
}
