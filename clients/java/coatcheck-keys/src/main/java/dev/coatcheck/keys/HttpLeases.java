package dev.coatcheck.keys;

import dev.coatcheck.cluster.lease.LeaseReply;
import dev.coatcheck.cluster.lease.LeaseRequest;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Sends the requests of a lease to a gateway: {@code /v1/leases}. Used by one thread at a time.
 * Each request ends within 800 ms, with a reply of some kind.
 */
final class HttpLeases implements Function<LeaseRequest, LeaseReply> {
  private static final Duration TIMEOUT = Duration.ofMillis(800);
  private static final long RETRY_AFTER_MILLIS = 1_000;
  private static final int ANSWER_BYTES_MAX = 64 * 1024;

  /** The gateway's answers are flat objects of texts and numbers. */
  private static final Pattern FIELD =
      Pattern.compile(
          "\"([a-z_]+)\"\\s*:\\s*(?:\"((?:[^\"\\\\]++|\\\\.)*+)\"|(-?[0-9]+)(?![0-9.eE]))");

  /** How many leases are known at most: the one that is held, and one that is to be given back. */
  private static final int IDS_MAX = 4;

  private final HttpClient http;
  private final URI leases;
  private final Supplier<String> apiKey;
  private final String acquire;

  /** IDs by worker and epoch. */
  private final Map<String, String> ids = new LinkedHashMap<>();

  HttpLeases(
      URI gateway,
      Supplier<String> apiKey,
      @Nullable SSLContext tls,
      SnowflakeLayout layout,
      String holder) {
    HttpClient.Builder client =
        HttpClient.newBuilder()
            // With HTTP/2 a connection that falls silent would be used again after each timeout.
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(TIMEOUT)
            .followRedirects(HttpClient.Redirect.NEVER);
    if (tls != null) {
      client.sslContext(tls);
    }
    this.http = client.build();
    String base = gateway.toString();
    this.leases = URI.create((base.endsWith("/") ? base : base + "/") + "v1/leases");
    this.apiKey = apiKey;
    this.acquire = "{\"layout\":%s,\"holder\":%s}".formatted(quoted(layout.name()), quoted(holder));
  }

  /** An address without secrets, because the reason of a failure tells it. */
  static URI checked(URI gateway) {
    boolean isHttp = "http".equals(gateway.getScheme()) || "https".equals(gateway.getScheme());
    if (!isHttp
        || gateway.getHost() == null
        || gateway.getRawUserInfo() != null
        || gateway.getRawQuery() != null
        || gateway.getRawFragment() != null) {
      throw new IllegalArgumentException(
          "the URL of a gateway is http or https, a host and perhaps a path, such as"
              + " http://127.0.0.1:8080");
    }
    return gateway;
  }

  /** A key that the JDK refuses as a header is told in its exception. */
  static String checked(String apiKey) {
    if (!apiKey.matches("[ -~]{0,255}")) {
      throw new IllegalArgumentException(
          "the API key is too long, or has a character that none has, such as a line break");
    }
    return apiKey;
  }

  /** Of visible ASCII characters. */
  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  @Override
  public LeaseReply apply(LeaseRequest request) {
    try {
      if (request instanceof LeaseRequest.Renew renew) {
        return renew(renew);
      }
      if (request instanceof LeaseRequest.Release release) {
        return release(release);
      }
      return acquire();
    } catch (IOException e) {
      return new LeaseReply.Failed("the gateway does not answer: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new LeaseReply.Failed("interrupted");
    }
  }

  private LeaseReply acquire() throws IOException, InterruptedException {
    HttpResponse<String> answer = send("POST", "", acquire);
    if (answer.statusCode() != 201) {
      return answer.statusCode() == 500
          ? failed(answer)
          : new LeaseReply.NoneFree(reason(answer), retryAfterMillis(answer));
    }
    Map<String, String> lease = fields(answer.body());
    int worker = Integer.parseInt(field(lease, "worker"));
    long epoch = number(lease, "epoch");
    ids.put(name(worker, epoch), field(lease, "id"));
    while (ids.size() > IDS_MAX) {
      ids.remove(ids.keySet().iterator().next());
    }
    return new LeaseReply.Acquired(worker, epoch, time(lease, "from"), time(lease, "until"));
  }

  private LeaseReply renew(LeaseRequest.Renew renew) throws IOException, InterruptedException {
    String id = ids.get(name(renew.worker(), renew.epoch()));
    if (id == null) {
      return new LeaseReply.Gone();
    }
    HttpResponse<String> answer =
        send(
            "PUT",
            "/" + id,
            "{\"epoch\":%d,\"until\":\"%s\"}"
                .formatted(renew.epoch(), Instant.ofEpochMilli(renew.untilMillis())));
    int status = answer.statusCode();
    if (status == 404 || status == 409) {
      return new LeaseReply.Gone();
    }
    if (status != 200) {
      return failed(answer);
    }
    Map<String, String> lease = fields(answer.body());
    return new LeaseReply.Renewed(time(lease, "from"), time(lease, "until"));
  }

  private LeaseReply release(LeaseRequest.Release release)
      throws IOException, InterruptedException {
    String id = ids.get(name(release.worker(), release.epoch()));
    if (id == null) {
      return new LeaseReply.Released();
    }
    HttpResponse<String> answer = send("DELETE", "/" + id, "");
    if (answer.statusCode() >= 500 || answer.statusCode() == 429) {
      return failed(answer);
    }
    ids.remove(name(release.worker(), release.epoch()));
    return new LeaseReply.Released();
  }

  private HttpResponse<String> send(String method, String path, String body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(leases + path))
            .timeout(TIMEOUT)
            .header("Authorization", "Bearer " + checked(apiKey.get()));
    if (!body.isEmpty()) {
      request.header("Content-Type", "application/json");
    }
    return whole(
        request
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .build());
  }

  /** The JDK's own timeout ends with the headers of an answer; this one counts for its body too. */
  private HttpResponse<String> whole(HttpRequest request) throws IOException, InterruptedException {
    CompletableFuture<HttpResponse<String>> answer = http.sendAsync(request, HttpLeases::text);
    try {
      return answer.get(TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      throw new HttpTimeoutException("no whole answer within " + TIMEOUT.toMillis() + " ms");
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof IOException broken
          ? broken
          : new IOException(failed.getCause());
    } finally {
      answer.cancel(true); // breaks off what has not ended
    }
  }

  /** The body, unless it is longer than an answer of a gateway. */
  private static BodySubscriber<String> text(HttpResponse.ResponseInfo answer) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    return BodySubscribers.mapping(
        BodySubscribers.ofByteArrayConsumer(next -> next.ifPresent(part -> add(part, body))),
        end -> body.toString(StandardCharsets.UTF_8));
  }

  private static void add(byte[] part, ByteArrayOutputStream body) {
    if (body.size() > ANSWER_BYTES_MAX - part.length) {
      throw new IllegalStateException("the answer is longer than " + ANSWER_BYTES_MAX + " bytes");
    }
    body.writeBytes(part);
  }

  private static LeaseReply failed(HttpResponse<String> answer) {
    return new LeaseReply.Failed(reason(answer));
  }

  /** Why there is no lease, in the gateway's words. */
  private static String reason(HttpResponse<String> answer) {
    Map<String, String> problem = fields(answer.body());
    return "the gateway answered %d %s: %s"
        .formatted(
            answer.statusCode(),
            problem.getOrDefault("code", ""),
            problem.getOrDefault("detail", "no problem document"));
  }

  private static long retryAfterMillis(HttpResponse<String> answer) {
    return answer
        .headers()
        .firstValue("Retry-After")
        .filter(seconds -> seconds.matches("[0-9]{1,5}"))
        .map(seconds -> Math.max(1, Long.parseLong(seconds)) * 1_000)
        .orElse(RETRY_AFTER_MILLIS);
  }

  private static Map<String, String> fields(String json) {
    Map<String, String> fields = new LinkedHashMap<>();
    Matcher field = FIELD.matcher(json);
    while (field.find()) {
      fields.putIfAbsent(field.group(1), field.group(2) == null ? field.group(3) : field.group(2));
    }
    return fields;
  }

  private static String field(Map<String, String> fields, String name) throws IOException {
    String value = fields.get(name);
    if (value == null) {
      throw new IOException("the gateway's answer has no " + name);
    }
    return value;
  }

  private static long number(Map<String, String> fields, String name) throws IOException {
    return Long.parseLong(field(fields, name));
  }

  private static long time(Map<String, String> fields, String name) throws IOException {
    return Instant.parse(field(fields, name)).toEpochMilli();
  }

  private static String name(int worker, long epoch) {
    return worker + " " + epoch;
  }
}
