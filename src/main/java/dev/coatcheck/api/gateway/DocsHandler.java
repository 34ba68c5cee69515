package dev.coatcheck.api.gateway;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ContentNegotiation;
import dev.coatcheck.api.exchange.Page;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.StaticFile;
import dev.coatcheck.api.server.OpenRoute;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * Serves the contract and its pages from the jar, and to browsers a page at the root. Each file is
 * loaded at its first request, and sent without a thread: a client that doesn't read holds only its
 * connection.
 */
final class DocsHandler extends Handler.Wrapper {
  private static final String CSS = "text/css; charset=utf-8";
  private static final String SCRIPT = "text/javascript; charset=utf-8";
  private static final String SVG = "image/svg+xml";
  private static final String FAVICON = "/docs/favicon.svg";
  private static final String SWAGGER = "/META-INF/resources/webjars/swagger-ui/5.34.1/";

  private static final byte[] HOME =
      Page.html(
          "en",
          """
          <title>Coatcheck</title>
          <link rel="icon" href="/favicon.svg" type="image/svg+xml">\
          """,
          """
          <h1>Coatcheck</h1>
          <p>This gateway gives out public IDs in place of internal keys,
          and redirects the links that contain them.</p>
          <p><a href="/docs">API</a> · <a href="/docs/errors">Errors</a> ·
          <a href="/openapi.yaml">openapi.yaml</a></p>\
          """);

  private record Asset(OpenRoute route, Supplier<StaticFile> file) {
    Asset(OpenRoute route, String resource, String contentType) {
      this(route, () -> StaticFile.load(resource, contentType));
    }
  }

  private static final Map<String, Asset> BY_PATH =
      Map.ofEntries(
          at(new Asset(OpenRoute.HOME, () -> StaticFile.of(HOME))),
          at(new Asset(OpenRoute.CONTRACT, "/openapi/coatcheck.yaml", "application/yaml")),
          at(new Asset(OpenRoute.DOCS, "/docs/index.html", Page.CONTENT_TYPE)),
          at(new Asset(OpenRoute.DOCS_ERRORS, "/docs/errors.html", Page.CONTENT_TYPE)),
          at(new Asset(OpenRoute.FAVICON, FAVICON, SVG)),
          at(new Asset(OpenRoute.FAVICON_ICO, "/docs/favicon.ico", "image/x-icon")),
          asset("docs.css", "/docs/docs.css", CSS),
          asset("docs.js", "/docs/docs.js", SCRIPT),
          asset("favicon.svg", FAVICON, SVG),
          asset("swagger-ui.css", SWAGGER + "swagger-ui.css", CSS),
          asset("swagger-ui-bundle.js", SWAGGER + "swagger-ui-bundle.js", SCRIPT));

  private final Map<String, StaticFile> loaded = new ConcurrentHashMap<>();
  private final Observer observer;
  private final Executor requestThreads;

  DocsHandler(Handler next, Observer observer, Executor requestThreads) {
    super(next);
    this.observer = observer;
    this.requestThreads = requestThreads;
  }

  private static Map.Entry<String, Asset> at(Asset asset) {
    return Map.entry(asset.route().path(), asset);
  }

  private static Map.Entry<String, Asset> asset(String name, String resource, String contentType) {
    return Map.entry(
        OpenRoute.DOCS_ASSET.start() + name,
        new Asset(OpenRoute.DOCS_ASSET, resource, contentType));
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
    Optional<Answer> refusal = refusal(request, asset);
    if (refusal.isPresent()) {
      refusal.get().send(request, response, served);
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

  private static Optional<Answer> refusal(Request request, Asset asset) {
    if (!request.getMethod().equals("GET") && !request.getMethod().equals("HEAD")) {
      return Optional.of(
          Answer.of(Problem.wrongMethod()).with(HttpHeader.ALLOW.asString(), "GET, HEAD"));
    }
    return asset.route() == OpenRoute.HOME
            && !ContentNegotiation.prefersHtml(
                request.getHeaders().getValuesList(HttpHeader.ACCEPT))
        ? Optional.of(Answer.of(Problem.noSuchPath()).with(StaticFile.BY_FORM))
        : Optional.empty();
  }

  private void load(
      String path, Asset asset, Request request, Response response, Callback callback) {
    try {
      StaticFile file = requireNonNull(loaded.computeIfAbsent(path, _ -> asset.file().get()));
      file.send(request, response, callback);
    } catch (RuntimeException | Error failed) {
      callback.failed(failed);
    }
  }
}
