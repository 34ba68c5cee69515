package dev.coatcheck.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.Authenticator;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;

/**
 * An HTTP client that answers at once, with one public ID, and with the changes of a gateway where
 * nothing changes. So a call costs what its caller does.
 */
final class InMemoryHttp extends HttpClient {
  private static final HttpHeaders HEADERS =
      HttpHeaders.of(
          Map.of(
              "Content-Type", List.of("application/json"),
              "Request-Id", List.of("req_4KIWSf8WvPNoQDBw"),
              "RateLimit", List.of("\"key\";r=999;t=1")),
          (_, _) -> true);

  private final byte[] body;

  InMemoryHttp(String body) {
    this.body = body.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public <T> HttpResponse<T> send(HttpRequest request, HttpResponse.BodyHandler<T> handler) {
    boolean isFeed = request.uri().getPath().endsWith("/changes");
    HttpResponse.BodySubscriber<T> subscriber = handler.apply(new Status());
    if (isFeed) {
      @SuppressWarnings("unchecked") // the client asks for a stream here, and nowhere else
      T feed = (T) new Feed();
      return new Answer<>(request, feed);
    }
    subscriber.onSubscribe(new Unlimited());
    subscriber.onNext(List.of(ByteBuffer.wrap(body)));
    subscriber.onComplete();
    return new Answer<>(request, subscriber.getBody().toCompletableFuture().join());
  }

  @Override
  public <T> CompletableFuture<HttpResponse<T>> sendAsync(
      HttpRequest request, HttpResponse.BodyHandler<T> handler) {
    return CompletableFuture.completedFuture(send(request, handler));
  }

  @Override
  public <T> CompletableFuture<HttpResponse<T>> sendAsync(
      HttpRequest request,
      HttpResponse.BodyHandler<T> handler,
      HttpResponse.PushPromiseHandler<T> pushes) {
    return sendAsync(request, handler);
  }

  /** A head twice a second. */
  private static final class Feed extends InputStream {
    private static final String START =
        """
        id: 1
        event: start
        data: {"known_millis":600000}

        """;
    private static final long EVERY_MILLIS = 500;

    private byte[] event = START.getBytes(StandardCharsets.UTF_8);
    private int next;
    private long millis;

    @Override
    public int read() throws IOException {
      if (next == event.length) {
        event = head().getBytes(StandardCharsets.UTF_8);
        next = 0;
      }
      return event[next++];
    }

    /** One event at a time, as a network brings them. */
    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      into[offset] = (byte) read();
      int count = Math.min(length - 1, event.length - next);
      System.arraycopy(event, next, into, offset + 1, count);
      next += count;
      return 1 + count;
    }

    private String head() throws IOException {
      try {
        if (millis > 0) {
          TimeUnit.MILLISECONDS.sleep(EVERY_MILLIS);
        }
      } catch (InterruptedException closed) {
        throw new IOException(closed);
      }
      millis += EVERY_MILLIS;
      return "id: 1\nevent: head\ndata: {\"as_of_millis\":%d}\n\n".formatted(millis);
    }
  }

  private record Status() implements HttpResponse.ResponseInfo {
    @Override
    public int statusCode() {
      return 200;
    }

    @Override
    public HttpHeaders headers() {
      return HEADERS;
    }

    @Override
    public Version version() {
      return Version.HTTP_1_1;
    }
  }

  private record Unlimited() implements Flow.Subscription {
    @Override
    public void request(long count) {}

    @Override
    public void cancel() {}
  }

  private record Answer<T>(HttpRequest request, T body) implements HttpResponse<T> {
    @Override
    public int statusCode() {
      return 200;
    }

    @Override
    public Optional<HttpResponse<T>> previousResponse() {
      return Optional.empty();
    }

    @Override
    public HttpHeaders headers() {
      return HEADERS;
    }

    @Override
    public Optional<SSLSession> sslSession() {
      return Optional.empty();
    }

    @Override
    public URI uri() {
      return request.uri();
    }

    @Override
    public Version version() {
      return Version.HTTP_1_1;
    }
  }

  @Override
  public Optional<CookieHandler> cookieHandler() {
    return Optional.empty();
  }

  @Override
  public Optional<Duration> connectTimeout() {
    return Optional.empty();
  }

  @Override
  public Redirect followRedirects() {
    return Redirect.NEVER;
  }

  @Override
  public Optional<ProxySelector> proxy() {
    return Optional.empty();
  }

  @Override
  public SSLContext sslContext() {
    try {
      return SSLContext.getDefault();
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException(missing);
    }
  }

  @Override
  public SSLParameters sslParameters() {
    return new SSLParameters();
  }

  @Override
  public Optional<Authenticator> authenticator() {
    return Optional.empty();
  }

  @Override
  public Version version() {
    return Version.HTTP_1_1;
  }

  @Override
  public Optional<Executor> executor() {
    return Optional.empty();
  }
}
