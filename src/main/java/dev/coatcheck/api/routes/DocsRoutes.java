package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;

/** The contract and the pages that make it readable, all from the jar. */
public final class DocsRoutes implements Routes {
  private static final String HTML = "text/html; charset=utf-8";
  private static final String CSS = "text/css; charset=utf-8";
  private static final String SCRIPT = "text/javascript; charset=utf-8";
  private static final String SWAGGER = "/META-INF/resources/webjars/swagger-ui/5.34.1/";

  /** Nothing from elsewhere, and no script or style inside a page. */
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'"
          + " data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors"
          + " 'none'";

  private record Asset(String resource, String contentType) {}

  private static final Map<String, Asset> ASSETS =
      Map.of(
          "docs.css", new Asset("/docs/docs.css", CSS),
          "docs.js", new Asset("/docs/docs.js", SCRIPT),
          "favicon.svg", new Asset("/docs/favicon.svg", "image/svg+xml"),
          "swagger-ui.css", new Asset(SWAGGER + "swagger-ui.css", CSS),
          "swagger-ui-bundle.js", new Asset(SWAGGER + "swagger-ui-bundle.js", SCRIPT));

  @Override
  public void register(Endpoints endpoints) {
    Asset contract = new Asset("/openapi/coatcheck.yaml", "application/yaml");
    endpoints.always(HandlerType.GET, "/openapi.yaml", _ -> answer(contract));
    endpoints.always(HandlerType.GET, "/docs", _ -> answer(new Asset("/docs/index.html", HTML)));
    endpoints.always(
        HandlerType.GET, "/docs/errors", _ -> answer(new Asset("/docs/errors.html", HTML)));
    endpoints.always(HandlerType.GET, "/docs/assets/{file}", DocsRoutes::asset);
  }

  private static Answer asset(Context ctx) {
    Asset asset = ASSETS.get(ctx.pathParam("file"));
    return asset == null
        ? Answer.of(Problem.of(ProblemCode.NOT_FOUND, "There is no such file."))
        : answer(asset);
  }

  private static Answer answer(Asset asset) {
    try (InputStream in = DocsRoutes.class.getResourceAsStream(asset.resource())) {
      if (in == null) {
        throw new IllegalStateException("missing in the jar: " + asset.resource());
      }
      return Answer.content(asset.contentType(), "public, max-age=300", in.readAllBytes())
          .with("Content-Security-Policy", POLICY)
          .with("X-Content-Type-Options", "nosniff");
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }
}
