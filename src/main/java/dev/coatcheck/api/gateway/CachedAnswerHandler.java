package dev.coatcheck.api.gateway;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.RequestId;
import dev.coatcheck.api.routes.IdRoutes;
import dev.coatcheck.api.routes.urls.ProxyRoutes;
import dev.coatcheck.api.routes.urls.RedirectRoutes;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Access;
import dev.coatcheck.ids.access.Scope;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Answers redirects, resolves and proxied URLs whose public IDs are cached, on the thread that read
 * the request. All other requests go on to the routes, on a thread of their own.
 *
 * <p>Handing a small request to another thread costs more than serving it, so this answers on the
 * I/O thread. Nothing called here may query, log or hold a lock. The routes make the answers. No
 * permit is taken: as many of these requests are under way as there are I/O threads.
 */
final class CachedAnswerHandler extends Handler.Wrapper {
  private static final String REDIRECTS = before(RedirectRoutes.PATH);
  private static final String IDS = before(IdRoutes.ONE);
  private static final Pattern PLAIN = Pattern.compile("[0-9A-Za-z_]{1,64}");

  /** Of a request with a body, or one that asks something of the connection. */
  private static final EnumSet<HttpHeader> UNUSUAL =
      EnumSet.of(HttpHeader.CONTENT_LENGTH, HttpHeader.TRANSFER_ENCODING, HttpHeader.EXPECT);

  private final RouteTable routes;
  private final Access access;
  private final Observer observer;
  private final Executor requestThreads;

  CachedAnswerHandler(
      RouteTable routes, Access access, Observer observer, Executor requestThreads) {
    this.routes = routes;
    this.access = access;
    this.observer = observer;
    this.requestThreads = requestThreads;
  }

  /** Whatever the handlers behind it do: they are called on another thread. */
  @Override
  public InvocationType getInvocationType() {
    return InvocationType.NON_BLOCKING;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    long begun = System.nanoTime();
    Optional<Cached> cached = cached(request);
    if (cached.isEmpty()) {
      requestThreads.execute(() -> handOver(request, response, callback));
      return true;
    }
    Answer answer = cached.get().answer();
    answer.send(request, response, callback);
    observer.observe(
        new Event.RequestServed(
            request.getMethod(), cached.get().route(), answer.status(), System.nanoTime() - begun));
    // Requests that are handed over have virtual threads. One of those here would mean that the
    // hand-over happened already, because a handler around this one declares that it may wait.
    if (!Thread.currentThread().isVirtual()) {
      observer.observe(new Event.CachedAnswerServed());
    }
    return true;
  }

  private record Cached(String route, Answer answer) {}

  private Optional<Cached> cached(Request request) {
    String path = request.getHttpURI().getPath();
    String method = request.getMethod();
    boolean get = method.equals("GET");
    if (!(get || method.equals("HEAD")) || request.getHeaders().contains(UNUSUAL)) {
      return Optional.empty();
    }
    try {
      if (path.startsWith(REDIRECTS)) {
        return id(path, REDIRECTS)
            .flatMap(id -> routes.redirects().answerIfCached(id))
            .map(answer -> new Cached(RedirectRoutes.PATH, answer));
      }
      // The route judges queries.
      if (get && path.startsWith(IDS) && request.getHttpURI().getQuery() == null) {
        return id(path, IDS)
            .filter(_ -> isGranted(request.getHeaders(), IdRoutes.ONE_NEEDS))
            .flatMap(id -> routes.ids().resolvedIfCached(id))
            .map(answer -> new Cached(IdRoutes.ONE, answer));
      }
      if (get
          && path.equals(ProxyRoutes.AUTH_REQUEST)
          && request.getHttpURI().getQuery() == null
          && isGranted(request.getHeaders(), ProxyRoutes.NEEDS)) {
        return routes
            .proxies()
            .answerIfCached(
                request.getHeaders().getValuesList(ProxyRoutes.ORIGINAL_URI), RequestId.of(request))
            .map(answer -> new Cached(ProxyRoutes.AUTH_REQUEST, answer));
      }
      return Optional.empty();
    } catch (RuntimeException bug) {
      // The route will meet it as well, and has the means to report it.
      return Optional.empty();
    }
  }

  private boolean isGranted(HttpFields headers, Scope needed) {
    return access
        .grantIfCached(Optional.ofNullable(headers.get(HttpHeader.AUTHORIZATION)), needed)
        .isPresent();
  }

  /** The last part of the path, if it needs no decoding. */
  private static Optional<String> id(String path, String start) {
    return Optional.of(path.substring(start.length())).filter(id -> PLAIN.matcher(id).matches());
  }

  private void handOver(Request request, Response response, Callback callback) {
    try {
      if (!super.handle(request, response, callback)) {
        Response.writeError(request, response, callback, 404);
      }
    } catch (Throwable failed) {
      Response.writeError(request, response, callback, failed);
    }
  }

  private static String before(String route) {
    return route.substring(0, route.indexOf('{'));
  }
}
