package dev.coatcheck.api.gateway;

import dev.coatcheck.api.body.BodyGate;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.gateway.FrontRequest.Operation;
import dev.coatcheck.api.routes.Asked;
import dev.coatcheck.api.routes.IdRoutes;
import dev.coatcheck.api.routes.MintRoutes;
import dev.coatcheck.api.routes.urls.ProxyRoutes;
import dev.coatcheck.api.server.OpenRoute;
import dev.coatcheck.core.id.Base62;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Caller;
import java.util.EnumSet;
import java.util.Optional;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Answers redirects, legacy IDs, resolves, proxied URLs and single mints without a waiting thread:
 * from memory on the thread that read the request, or else on the thread that loaded or wrote the
 * row. All other requests are passed to the routes, each on a thread of its own.
 *
 * <p>Handing a small request to another thread costs more than serving it. The routes compute the
 * answers, each in a {@link dev.coatcheck.core.attempt.NonBlockingAttempt}.
 */
final class FrontHandler extends Handler.Wrapper {
  private static final String REDIRECTS = OpenRoute.REDIRECT.start();
  private static final String LEGACY = OpenRoute.LEGACY.start();
  private static final String IDS = IdRoutes.ONE.substring(0, IdRoutes.ONE.indexOf('{'));
  private static final int PART_LENGTH_MAX = 64;

  /** Headers of a request with a body, or with special demands on the connection. */
  private static final EnumSet<HttpHeader> UNUSUAL =
      EnumSet.of(HttpHeader.CONTENT_LENGTH, HttpHeader.TRANSFER_ENCODING, HttpHeader.EXPECT);

  private final RouteTable routes;
  private final FrontRequest.Means means;
  private final boolean isPublic;

  /**
   * @param isPublic whether only links are answered, on the port for the public
   */
  FrontHandler(RouteTable routes, FrontRequest.Means means, boolean isPublic) {
    this.routes = routes;
    this.means = means;
    this.isPublic = isPublic;
  }

  /** Slow work is passed to other threads. */
  @Override
  public InvocationType getInvocationType() {
    return InvocationType.NON_BLOCKING;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    FrontRequest asked =
        new FrontRequest(
            means,
            request,
            response,
            callback,
            () -> BodyGate.answer(super::handle, request, response, callback));
    operation(request).ifPresentOrElse(asked::answer, asked::handOver);
    return true;
  }

  /** The operation of a request; empty if its route needs a thread. */
  private Optional<Operation> operation(Request request) {
    String path = request.getHttpURI().getPath();
    return switch (request.getMethod()) {
      case "GET", "HEAD" ->
          request.getHeaders().contains(UNUSUAL) ? Optional.empty() : reading(request, path);
      case "POST" -> path.equals(MintRoutes.ONE) && !isPublic ? minting(request) : Optional.empty();
      default -> Optional.empty();
    };
  }

  private Optional<Operation> reading(Request request, String path) {
    if (path.startsWith(REDIRECTS)) {
      return part(path, REDIRECTS.length(), path.length())
          .map(
              id ->
                  Operation.open(
                      OpenRoute.REDIRECT.path(),
                      () -> routes.redirects().redirect(id, Asked.of(request, Optional.empty()))));
    }
    if (path.startsWith(LEGACY)) {
      int slash = path.lastIndexOf('/');
      return part(path, slash + 1, path.length())
          .flatMap(
              n ->
                  part(path, LEGACY.length(), slash)
                      .map(
                          type ->
                              Operation.open(
                                  OpenRoute.LEGACY.path(),
                                  () ->
                                      routes
                                          .redirects()
                                          .follow(type, n, Asked.of(request, Optional.empty())))));
    }
    // Routes parse queries.
    if (isPublic || request.getMethod().equals("HEAD") || request.getHttpURI().getQuery() != null) {
      return Optional.empty();
    }
    if (path.startsWith(IDS)) {
      return part(path, IDS.length(), path.length())
          .map(
              id ->
                  new Operation(
                      IdRoutes.ONE,
                      Optional.of(IdRoutes.ONE_NEEDS),
                      caller ->
                          routes.ids().resolve(id, types(caller), Asked.of(request, caller))));
    }
    return path.equals(ProxyRoutes.AUTH_REQUEST)
        ? Optional.of(
            new Operation(
                ProxyRoutes.AUTH_REQUEST,
                Optional.of(ProxyRoutes.NEEDS),
                caller -> routes.proxies().authRequest(Asked.of(request, caller), types(caller))))
        : Optional.empty();
  }

  private static AllowedTypes types(Optional<Caller> caller) {
    return caller.orElseThrow().rights().allowedTypes();
  }

  /** The body was collected and its media type checked before. */
  private Optional<Operation> minting(Request request) {
    boolean isPlain =
        request.getHttpURI().getQuery() == null
            && !request.getHeaders().contains(IdempotencyHeader.NAME)
            && !request.getHeaders().contains(HttpHeader.EXPECT);
    return RequestBody.kept(request)
        .filter(_ -> isPlain)
        .map(
            body ->
                new Operation(
                    MintRoutes.ONE,
                    Optional.of(MintRoutes.NEEDS),
                    caller -> routes.mints().one(body, caller.orElseThrow())));
  }

  /** A part of the path between slashes, if it needs no decoding. */
  private static Optional<String> part(String path, int start, int end) {
    if (start >= end || end - start > PART_LENGTH_MAX) {
      return Optional.empty();
    }
    for (int i = start; i < end; i++) {
      if (!isPlain(path.charAt(i))) {
        return Optional.empty();
      }
    }
    return Optional.of(path.substring(start, end));
  }

  /** Hyphens occur in UUIDs and in many prefixes of older public IDs. */
  private static boolean isPlain(char c) {
    return Base62.isBase62(c) || c == '_' || c == '-';
  }
}
