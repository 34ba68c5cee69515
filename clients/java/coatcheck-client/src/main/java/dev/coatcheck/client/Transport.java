package dev.coatcheck.client;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.ProtocolException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Sends calls, again where that is safe, until they are answered or their deadline passes. The
 * thread of the caller waits; a virtual thread gives its carrier away.
 *
 * <h2>What is sent again</h2>
 *
 * <ul>
 *   <li>429, 503 and 409 {@code busy}: nothing was done. After {@code Retry-After}.
 *   <li>503 {@code database_unavailable}, 502 to 504 of a proxy, and a connection that breaks off
 *       or is silent: if the call is repeatable, because it may have been carried out.
 *   <li>no connection: nothing was done.
 * </ul>
 *
 * Without {@code Retry-After} the waits double from 50 ms to 1 s, less a random half. A wait that
 * would end after the deadline is not begun.
 */
final class Transport {
  static final int TRIES_MAX = 20;

  /** The longest answers of a gateway are those to batches of URLs, of some MiB. */
  private static final int ANSWER_BYTES_MAX = 64 * 1024 * 1024;

  private static final Duration FIRST_WAIT = Duration.ofMillis(50);
  private static final Duration WAIT_MAX = Duration.ofSeconds(1);

  /** For the JDK's client to say by itself that it got no connection, or no answer. */
  private static final Duration GRACE = Duration.ofMillis(50);

  private final URI base;
  private final Supplier<String> apiKey;
  private final HttpClient http;
  private final Duration deadline;
  private final int triesMax;
  private final CallListener listener;

  Transport(
      URI base,
      Supplier<String> apiKey,
      HttpClient http,
      Duration deadline,
      int triesMax,
      CallListener listener) {
    this.base = base;
    this.apiKey = apiKey;
    this.http = http;
    this.deadline = deadline;
    this.triesMax = triesMax;
    this.listener = listener;
  }

  /**
   * The JDK's client for a gateway. For plain HTTP nobody is trusted: by default the client reads
   * all root certificates of the JDK, which takes longer than a call.
   */
  static HttpClient client(URI base, Duration connectMax, @Nullable SSLContext tls) {
    HttpClient.Builder builder =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(connectMax);
    if (tls != null) {
      builder.sslContext(tls);
    } else if ("http".equals(base.getScheme())) {
      builder.sslContext(trustingNobody());
    }
    return builder.build();
  }

  /** The answer, of any status below 400. */
  GatewayAnswer send(GatewayRequest request, String operation) {
    GatewayAnswer answer = exchange(request, operation);
    if (answer.status() >= 400) {
      throw new CoatcheckException(answer);
    }
    return answer;
  }

  /** The answer, of any status. */
  GatewayAnswer exchange(GatewayRequest request, String operation) {
    return new Call(request, operation).run();
  }

  /** The body of a successful answer as a stream, at one try. */
  InputStream open(GatewayRequest request) {
    Duration wait = request.deadlineOr(deadline);
    // The JDK's timeout would end the stream, in Java 26 and later.
    HttpResponse<InputStream> response =
        once(wait, http(request).build(), Transport::streamOrBytes);
    if (response.statusCode() < 300) {
      return response.body();
    }
    try (InputStream body = response.body()) {
      GatewayAnswer answer =
          new GatewayAnswer(response.statusCode(), response.headers(), body.readAllBytes());
      throw new CoatcheckException(answer);
    } catch (IOException broken) {
      throw failed(Problem.BROKEN_OFF, "The connection broke off: " + broken.getMessage(), broken);
    }
  }

  /** Only the body of a successful answer may take longer than the call. */
  private static HttpResponse.BodySubscriber<InputStream> streamOrBytes(
      HttpResponse.ResponseInfo answer) {
    return answer.statusCode() < 300
        ? HttpResponse.BodySubscribers.ofInputStream()
        : HttpResponse.BodySubscribers.mapping(bytes(answer), ByteArrayInputStream::new);
  }

  /** The body, unless it is longer than an answer may be. */
  private static HttpResponse.BodySubscriber<byte[]> bytes(HttpResponse.ResponseInfo answer) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    return HttpResponse.BodySubscribers.mapping(
        HttpResponse.BodySubscribers.ofByteArrayConsumer(
            next -> next.ifPresent(part -> add(part, body))),
        end -> body.toByteArray());
  }

  private static void add(byte[] part, ByteArrayOutputStream body) {
    if (body.size() > ANSWER_BYTES_MAX - part.length) {
      throw new IllegalStateException("the answer is longer than " + ANSWER_BYTES_MAX + " bytes");
    }
    body.writeBytes(part);
  }

  /** One call with all its tries. */
  private final class Call {
    private final GatewayRequest request;
    private final String operation;
    private final long startNanos = System.nanoTime();
    private final long deadlineNanos;
    private int tries;

    Call(GatewayRequest request, String operation) {
      this.request = request;
      this.operation = operation;
      deadlineNanos = request.deadlineOr(deadline).toNanos();
    }

    GatewayAnswer run() {
      int status = 0;
      try {
        while (true) {
          tries++;
          try {
            GatewayAnswer answer = tryOnce();
            if (answer.isSuccess() || !isWorthAnother(Problem.of(answer))) {
              status = answer.status();
              return answer;
            }
          } catch (CoatcheckException failed) {
            if (!isWorthAnother(failed.problem())) {
              throw failed;
            }
          }
        }
      } finally {
        listener.ended(operation, status, tries, Duration.ofNanos(System.nanoTime() - startNanos));
      }
    }

    /** Whether to try again; then the wait before it is over. */
    private boolean isWorthAnother(Problem problem) {
      return mayRepeat(problem) && waitAfter(problem);
    }

    /** A silent try ends at half of the deadline, so that another one fits. */
    private GatewayAnswer tryOnce() {
      long left = left();
      long nanos =
          request.isRepeatable() && triesMax > 1
              ? Math.min(left, Math.max(deadlineNanos / 2, 1_000_000))
              : left;
      Duration wait = Duration.ofNanos(Math.max(nanos, 1_000_000));
      HttpResponse<byte[]> response =
          once(wait, http(request).timeout(wait).build(), Transport::bytes);
      return new GatewayAnswer(response.statusCode(), response.headers(), response.body());
    }

    private boolean mayRepeat(Problem problem) {
      return tries < triesMax
          && problem.isTemporary()
          && !problem.code().equals(Problem.INTERRUPTED)
          && (request.isRepeatable() || !problem.mayBeDone());
    }

    /** Whether there is time for another try, after waiting for it. */
    private boolean waitAfter(Problem problem) {
      long nanos = problem.retryAfter().map(Duration::toNanos).orElseGet(this::pauseNanos);
      if (nanos >= left()) {
        return false;
      }
      try {
        TimeUnit.NANOSECONDS.sleep(nanos);
        return true;
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        throw failed(Problem.INTERRUPTED, "The thread was interrupted between two tries.", stopped);
      }
    }

    private long pauseNanos() {
      long nanos = Math.min(WAIT_MAX.toNanos(), FIRST_WAIT.toNanos() << Math.min(tries - 1, 10));
      return nanos - ThreadLocalRandom.current().nextLong(nanos / 2);
    }

    private long left() {
      return deadlineNanos - (System.nanoTime() - startNanos);
    }
  }

  private <T> HttpResponse<T> once(
      Duration wait, HttpRequest request, HttpResponse.BodyHandler<T> handler) {
    try {
      HttpResponse<T> response = whole(request, wait, handler);
      int status = response.statusCode();
      boolean isOurs =
          response
              .headers()
              .firstValue("Request-Id")
              .filter(id -> id.startsWith("req_"))
              .isPresent();
      if (!isOurs && status != 502 && status != 503 && status != 504) {
        if (response.body() instanceof InputStream unread) {
          unread.close();
        }
        throw new CoatcheckException(
            Problem.ofClient(
                status,
                Problem.NOT_A_GATEWAY,
                "The server at " + base + " is not a Coatcheck gateway. Check the URL."),
            null);
      }
      return response;
    } catch (ConnectException | HttpConnectTimeoutException refused) {
      throw failed(Problem.UNREACHABLE, "No server takes connections at " + base + ".", refused);
    } catch (HttpTimeoutException late) {
      throw failed(
          Problem.TIMED_OUT,
          "The gateway at " + base + " did not answer within " + wait.toMillis() + " ms.",
          late);
    } catch (SSLHandshakeException untrusted) {
      if (isBrokenOff(untrusted)) {
        throw failed(
            Problem.UNREACHABLE,
            "The connection to " + base + " ended before there was TLS.",
            untrusted);
      }
      throw failed(
          Problem.TLS_REFUSED,
          "There is no TLS with " + base + ": " + untrusted.getMessage(),
          untrusted);
    } catch (IOException broken) {
      throw brokenOff(broken);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw failed(Problem.INTERRUPTED, "The thread was interrupted during the call.", stopped);
    }
  }

  /**
   * Whether the connection ended, as that of a balancer does while its servers start. The JDK's
   * client tells this by its words alone, where it has no cause: an alert has none either.
   */
  private static boolean isBrokenOff(SSLHandshakeException handshake) {
    Throwable cause = handshake.getCause();
    return cause == null
        ? String.valueOf(handshake.getMessage()).startsWith("Remote host ")
        : cause instanceof IOException && !(cause instanceof SSLException);
  }

  /** In words of our own where those of the JDK say little, or have bytes of the answer. */
  private CoatcheckException brokenOff(IOException broken) {
    Throwable root = broken;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    if (root instanceof SSLException && String.valueOf(root.getMessage()).contains("plaintext")) {
      return failed(
          Problem.TLS_REFUSED,
          "The server at "
              + base
              + " speaks no TLS. A gateway without a certificate has an address that begins with"
              + " http://.",
          broken);
    }
    String detail =
        root instanceof EOFException || root instanceof ProtocolException
            ? "The server at " + base + " gave no whole HTTP answer."
            : "The connection to " + base + " broke off: " + broken.getMessage() + ".";
    return failed(Problem.BROKEN_OFF, detail, broken);
  }

  /** The JDK's own timeout ends with the headers of an answer; this one counts for its body too. */
  private <T> HttpResponse<T> whole(
      HttpRequest request, Duration wait, HttpResponse.BodyHandler<T> handler)
      throws IOException, InterruptedException {
    CompletableFuture<HttpResponse<T>> answer = http.sendAsync(request, handler);
    try {
      return answer.get(wait.plus(GRACE).toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      throw new HttpTimeoutException("the answer stopped halfway");
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof IOException broken) {
        throw broken;
      }
      throw new IOException(failed.getCause());
    } finally {
      answer.cancel(true); // breaks off what has not ended
    }
  }

  private HttpRequest.Builder http(GatewayRequest request) {
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(URI.create(base + request.path()))
            .header("Authorization", "Bearer " + checked(apiKey.get()));
    request.writeTo(builder);
    return builder;
  }

  /** A key that the JDK refuses as a header is told in its exception. */
  static String checked(String apiKey) {
    if (!apiKey.matches("[ -~]{0,255}")) {
      throw new IllegalArgumentException(
          "The API key is too long, or has a character that none has, such as a line break.");
    }
    return apiKey;
  }

  private static CoatcheckException failed(String code, String detail, @Nullable Throwable cause) {
    return new CoatcheckException(Problem.ofClient(code, detail), cause);
  }

  private static SSLContext trustingNobody() {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[0], null);
      return context;
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("this Java has no TLS", missing);
    }
  }
}
