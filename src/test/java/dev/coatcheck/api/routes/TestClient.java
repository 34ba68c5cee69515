package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.Contract.Answer;
import dev.coatcheck.api.routes.Contract.Sent;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Calls a gateway and checks every exchange against the contract. Sends a request again when it is
 * told to: after 409 or 503 with Retry-After, which a machine with more work than cores, or a disk
 * that stands still, gives to requests that are in order. Immutable: {@link #with}, {@link
 * #anonymous}, {@link #hostile} and {@link #once} give another client. Follows no redirects.
 */
public final class TestClient {
  /** An answer; its body is JSON, a string where it isn't JSON, and missing where there is none. */
  public record Reply(int status, Map<String, List<String>> headers, JsonNode body) {
    /** The first value of a header, of which there must be one. */
    public String header(String name) {
      return Objects.requireNonNull(headers.get(name), () -> "no header " + name).getFirst();
    }

    public boolean has(String name) {
      return headers.containsKey(name);
    }

    /** A string field of the body by its JSON pointer. */
    public String text(String pointer) {
      JsonNode value = body.at(pointer);
      if (!value.isString()) {
        throw new AssertionError("no text at " + pointer + " of " + status + " " + body);
      }
      return value.stringValue();
    }

    /** All that a stranger sees, without the request's ID and its length, and the time. */
    Map<String, Object> nameless() {
      Map<String, Object> all = new TreeMap<>(headers);
      all.keySet().removeAll(List.of("date", "request-id", "content-length"));
      all.put("status", status);
      all.put("body", body.toString().replace(header("request-id"), ""));
      return all;
    }

    /** The same, or something else where there is none. */
    @Nullable String text(String pointer, @Nullable String otherwise) {
      return body.at(pointer).isMissingNode() ? otherwise : text(pointer);
    }
  }

  /** A public ID that is in order and unknown. */
  static final String UNKNOWN_ID = "ch_00000000000000000000002B";

  private static final Logger LOG = LoggerFactory.getLogger(TestClient.class);
  private static final Duration TIMEOUT = Duration.ofMinutes(1);
  private static final Duration RETRY_AFTER = Duration.ofMillis(250);
  private static final JsonMapper JSON = new JsonMapper();
  private static final HttpClient HTTP = connections();

  private final HttpClient http;
  private final Contract contract;
  private final URI base;
  private final Map<String, String> headers;
  private final boolean hostile;
  private final boolean patient;

  /** A client of the gateway at {@code base} that shows {@code apiKey}. */
  public TestClient(URI base, String apiKey) {
    this(base, apiKey, Contract.load());
  }

  public TestClient(URI base, String apiKey, Contract contract) {
    this(HTTP, contract, base, keyed(apiKey), false, true);
  }

  /** The same by connections of {@link #connections}. */
  TestClient(HttpClient http, URI base, String apiKey) {
    this(http, Contract.load(), base, keyed(apiKey), false, true);
  }

  private TestClient(
      HttpClient http,
      Contract contract,
      URI base,
      Map<String, String> headers,
      boolean hostile,
      boolean patient) {
    this.http = http;
    this.contract = contract;
    this.base = base;
    this.headers = Map.copyOf(headers);
    this.hostile = hostile;
    this.patient = patient;
  }

  private static Map<String, String> keyed(String apiKey) {
    return Map.of("Authorization", "Bearer " + apiKey);
  }

  /** Connections that end when this is shut down: a gateway that stops waits a second for them. */
  static HttpClient connections() {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .followRedirects(HttpClient.Redirect.NEVER)
        .connectTimeout(TIMEOUT)
        .build();
  }

  /** The same client that also sends this header, instead of one with the same name. */
  public TestClient with(String header, String value) {
    Map<String, String> more = new HashMap<>(headers);
    more.put(header, value);
    return new TestClient(http, contract, base, more, hostile, patient);
  }

  /** The same client that also sends this header, unless it sends one with the same name. */
  TestClient withDefault(String header, String value) {
    return headers.containsKey(header) ? this : with(header, value);
  }

  /** The same client without an API key. */
  public TestClient anonymous() {
    Map<String, String> fewer = new HashMap<>(headers);
    fewer.remove("Authorization");
    return new TestClient(http, contract, base, fewer, hostile, patient);
  }

  /**
   * The same client for requests that break the contract on purpose. Their answers are checked all
   * the same, and none of them may succeed.
   */
  public TestClient hostile() {
    return new TestClient(http, contract, base, headers, true, patient);
  }

  /** The same client that takes the first answer, for tests of those that say "again". */
  public TestClient once() {
    return new TestClient(http, contract, base, headers, hostile, false);
  }

  public Reply get(String target) {
    return send("GET", target, null);
  }

  Reply resolveUrl(String url) {
    return get("/v1/urls/resolve?url=" + URLEncoder.encode(url, StandardCharsets.UTF_8));
  }

  /** How often legacy IDs of a type were looked up on the last day with any. */
  public long legacyHits(String type) {
    return get("/v1/types/%s/legacy-hits".formatted(type)).body().at("/data/0/count").asLong();
  }

  Reply head(String target) {
    return send("HEAD", target, null);
  }

  public Reply post(String target, String json) {
    return send("POST", target, json);
  }

  public Reply put(String target, String json) {
    return send("PUT", target, json);
  }

  /** Registers a type, or changes it. */
  public Reply put(TestType type) {
    return put("/v1/types/" + type.name(), type.body());
  }

  /** Changes a type also where that ends links. */
  Reply putConfirmed(TestType type) {
    return put("/v1/types/" + type.name() + "?confirm=links", type.body());
  }

  public Reply patch(String target, String json) {
    return send("PATCH", target, json);
  }

  Reply delete(String target) {
    return send("DELETE", target, null);
  }

  /** Mints one; further fields by name and value: {@code mint("charge", "key", "42")}. */
  public Reply mint(String type, String... fields) {
    Object[] all = new Object[2 + fields.length];
    all[0] = "type";
    all[1] = type;
    System.arraycopy(fields, 0, all, 2, fields.length);
    return post("/v1/ids", json(all));
  }

  /** A JSON object of names and values; a value is text, a number, a list, a map or null. */
  public static String json(@Nullable Object... namesAndValues) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      fields.put(String.valueOf(namesAndValues[i]), namesAndValues[i + 1]);
    }
    return JSON.writeValueAsString(fields);
  }

  /** The status, the code and the parameter of a problem, if it names one. */
  public static void assertProblem(Reply reply, String statusCodeAndParam) {
    String param = reply.text("/param", null);
    assertThat(reply.status() + " " + reply.text("/code") + (param == null ? "" : " " + param))
        .isEqualTo(statusCodeAndParam);
  }

  /**
   * A type was put: as a new type, or once more by a client that got no answer to its first put.
   */
  public static void assertPut(Reply reply) {
    assertThat(reply.status()).isIn(200, 201);
  }

  /** One of two types was put, and the other one is refused. */
  static void assertOneIsPut(Reply one, Reply other, int refusal) {
    boolean isOneRefused = one.status() == refusal;
    assertThat(isOneRefused ? one.status() : other.status()).isEqualTo(refusal);
    assertPut(isOneRefused ? other : one);
  }

  /** Any method, with or without a body, which is sent as JSON unless {@link #with} said else. */
  public Reply send(String method, String target, @Nullable String body) {
    Reply first = sendOnce(method, target, body);
    if (!patient || !saysAgain(first)) {
      return first;
    }
    LOG.info("Sent again: {} {} after {} {}", method, target, first.status(), first.body());
    return Awaitility.await("%s %s after %s".formatted(method, target, first.body()))
        .pollDelay(RETRY_AFTER)
        .pollInterval(RETRY_AFTER)
        .until(() -> sendOnce(method, target, body), reply -> !saysAgain(reply));
  }

  /**
   * The first answer with this code to a call of a client that asks {@link #once}. On a busy
   * machine the deadline of a request may pass first, which has a code of its own.
   */
  public Reply refused(String code, Function<TestClient, Reply> call) {
    TestClient once = once();
    return Awaitility.await("a refusal " + code)
        .until(() -> call.apply(once), reply -> code.equals(reply.text("/code", null)));
  }

  private static boolean saysAgain(Reply reply) {
    return (reply.status() == 409 || reply.status() == 503) && reply.has("Retry-After");
  }

  private Reply sendOnce(String method, String target, @Nullable String body) {
    Map<String, String> all = new HashMap<>(headers);
    if (body != null) {
      all.putIfAbsent("Content-Type", "application/json");
    }
    HttpRequest.Builder request =
        HttpRequest.newBuilder(base.resolve(target))
            .timeout(TIMEOUT)
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    all.forEach(request::setHeader);
    HttpResponse<String> response = exchange(request.build());

    Map<String, List<String>> sentHeaders = new HashMap<>();
    all.forEach((name, value) -> sentHeaders.put(name, List.of(value)));
    Sent sent = new Sent(method, target, sentHeaders, body);
    Answer answer = new Answer(response.statusCode(), response.headers().map(), response.body());
    if (hostile) {
      contract.checkAnswer(sent, answer);
    } else {
      contract.check(sent, answer);
    }
    return new Reply(answer.status(), answer.headers(), json(answer));
  }

  private HttpResponse<String> exchange(HttpRequest request) {
    try {
      return http.send(request, BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(request.method() + " " + request.uri(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static JsonNode json(Answer answer) {
    String contentType = answer.header("Content-Type");
    if (answer.body() == null) {
      return JsonNodeFactory.instance.missingNode();
    }
    return contentType != null && contentType.matches("application/(problem\\+)?json(;.*)?")
        ? JSON.readTree(answer.body())
        : JsonNodeFactory.instance.stringNode(answer.body());
  }
}
