package dev.coatcheck.test;

import java.io.ByteArrayOutputStream;
import java.net.Authenticator;
import java.net.ConnectException;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** An HTTP client whose requests go no further than {@link FakeRoutes}. */
final class InMemoryHttp extends HttpClient {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final TypeReference<Map<String, @Nullable Object>> OBJECT =
      new TypeReference<>() {};

  private final FakeRoutes routes;
  private final AtomicLong requests = new AtomicLong();
  private volatile boolean isReachable = true;

  InMemoryHttp(FakeRoutes routes) {
    this.routes = routes;
  }

  void setReachable(boolean reachable) {
    isReachable = reachable;
  }

  @Override
  public <T> CompletableFuture<HttpResponse<T>> sendAsync(
      HttpRequest request, HttpResponse.BodyHandler<T> handler) {
    if (!isReachable) {
      return CompletableFuture.failedFuture(new ConnectException("The fake gateway is away."));
    }
    byte[] sent = request.bodyPublisher().map(InMemoryHttp::bytes).orElse(new byte[0]);
    FakeAnswer answer =
        routes.answer(
            request.method(),
            request.uri(),
            request.headers().firstValue("Idempotency-Key"),
            sent.length == 0 ? Map.of() : JSON.readValue(sent, OBJECT));
    String type = answer.status() < 400 ? "application/json" : "application/problem+json";
    HttpHeaders headers =
        HttpHeaders.of(
            Map.of(
                "Content-Type",
                List.of(type),
                "Request-Id",
                List.of("req_fake" + requests.incrementAndGet()),
                "Idempotent-Replayed",
                answer.isReplayed() ? List.of("true") : List.of()),
            (name, value) -> true);
    HttpResponse.BodySubscriber<T> subscriber = handler.apply(new Info(answer.status(), headers));
    subscriber.onSubscribe(new Unlimited());
    if (answer.status() != 204) {
      subscriber.onNext(List.of(ByteBuffer.wrap(JSON.writeValueAsBytes(answer.body()))));
    }
    subscriber.onComplete();
    return subscriber
        .getBody()
        .<HttpResponse<T>>thenApply(body -> new Response<>(request, answer.status(), headers, body))
        .toCompletableFuture();
  }

  @Override
  public <T> CompletableFuture<HttpResponse<T>> sendAsync(
      HttpRequest request,
      HttpResponse.BodyHandler<T> handler,
      HttpResponse.@Nullable PushPromiseHandler<T> pushes) {
    return sendAsync(request, handler);
  }

  @Override
  public <T> HttpResponse<T> send(HttpRequest request, HttpResponse.BodyHandler<T> handler) {
    return sendAsync(request, handler).join();
  }

  private static byte[] bytes(HttpRequest.BodyPublisher publisher) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    publisher.subscribe(
        new Flow.Subscriber<>() {
          @Override
          public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
          }

          @Override
          public void onNext(ByteBuffer part) {
            byte[] next = new byte[part.remaining()];
            part.get(next);
            bytes.writeBytes(next);
          }

          @Override
          public void onError(Throwable failed) {
            throw new IllegalStateException(failed);
          }

          @Override
          public void onComplete() {}
        });
    return bytes.toByteArray();
  }

  private record Info(int statusCode, HttpHeaders headers) implements HttpResponse.ResponseInfo {
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

  private record Response<T>(HttpRequest request, int statusCode, HttpHeaders headers, T body)
      implements HttpResponse<T> {
    @Override
    public Optional<HttpResponse<T>> previousResponse() {
      return Optional.empty();
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
      throw new IllegalStateException("this Java has no TLS", missing);
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
