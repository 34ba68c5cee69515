package dev.coatcheck.api.gateway;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.server.OpenRoute;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Serves the contract and its pages from the jar. Each file is loaded at its first request, and
 * sent without a thread: a client that doesn't read holds only its connection.
 */
final class DocsHandler extends Handler.Wrapper {
  private static final String HTML = "text/html; charset=utf-8";
  private static final String CSS = "text/css; charset=utf-8";
  private static final String SCRIPT = "text/javascript; charset=utf-8";
  private static final String SWAGGER = "/META-INF/resources/webjars/swagger-ui/5.34.1/";
  private static final String ASSETS = "/docs/assets/";

  /** The file of a path. */
  private record Asset(OpenRoute route, String resource, String contentType) {}

  private static final Map<String, Asset> BY_PATH =
      Map.of(
          OpenRoute.CONTRACT.path(),
          new Asset(OpenRoute.CONTRACT, "/openapi/coatcheck.yaml", "application/yaml"),
          OpenRoute.DOCS.path(),
          new Asset(OpenRoute.DOCS, "/docs/index.html", HTML),
          OpenRoute.DOCS_ERRORS.path(),
          new Asset(OpenRoute.DOCS_ERRORS, "/docs/errors.html", HTML),
          ASSETS + "docs.css",
          asset("/docs/docs.css", CSS),
          ASSETS + "docs.js",
          asset("/docs/docs.js", SCRIPT),
          ASSETS + "favicon.svg",
          asset("/docs/favicon.svg", "image/svg+xml"),
          ASSETS + "swagger-ui.css",
          asset(SWAGGER + "swagger-ui.css", CSS),
          ASSETS + "swagger-ui-bundle.js",
          asset(SWAGGER + "swagger-ui-bundle.js", SCRIPT));

  private final Map<String, StaticFile> loaded = new ConcurrentHashMap<>();
  private final Observer observer;
  private final Executor requestThreads;

  DocsHandler(Handler next, Observer observer, Executor requestThreads) {
    super(next);
    this.observer = observer;
    this.requestThreads = requestThreads;
  }

  private static Asset asset(String resource, String contentType) {
    return new Asset(OpenRoute.DOCS_ASSET, resource, contentType);
  }

  /** Another thread loads a file that is not loaded yet. */
  @Override
  public InvocationType getInvocationType() {
    return InvocationType.NON_BLOCKING;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    String path = request.getHttpURI().getPath();
    Asset asset = BY_PATH.get(path);
    if (asset == null) {
      return super.handle(request, response, callback);
    }
    long begunNano = System.nanoTime();
    Callback served =
        Callback.from(
            callback,
            () ->
                observer.observe(
                    new Event.RequestServed(
                        request.getMethod(),
                        asset.route().path(),
                        response.getStatus(),
                        System.nanoTime() - begunNano)));
    if (!request.getMethod().equals("GET") && !request.getMethod().equals("HEAD")) {
      Answer.of(
              Problem.of(
                  ProblemCode.METHOD_NOT_ALLOWED,
                  "This path does not support this method. /docs lists all paths."))
          .with(HttpHeader.ALLOW.asString(), "GET, HEAD")
          .send(request, response, served);
      return true;
    }
    StaticFile file = loaded.get(path);
    if (file != null) {
      file.send(request, response, served);
    } else {
      requestThreads.execute(() -> load(path, asset, request, response, served));
    }
    return true;
  }

  private void load(
      String path, Asset asset, Request request, Response response, Callback callback) {
    try {
      StaticFile file =
          requireNonNull(
              loaded.computeIfAbsent(
                  path, _ -> StaticFile.load(asset.resource(), asset.contentType())));
      file.send(request, response, callback);
    } catch (RuntimeException | Error failed) {
      callback.failed(failed);
    }
  }
}
