package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestId;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.url.UrlOutcome;
import dev.coatcheck.ids.url.UrlResolver;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Resolves the URI of a request for the proxy that is about to pass it on. The URI comes in a
 * header or as a path, and goes back in a header.
 *
 * <p>nginx ({@code auth_request}) tells apart only 2xx, 401, 403 and the rest, and reads no body.
 * So a URI that can't be resolved is 403 here, and headers have the true status and problem.
 */
public final class ProxyRoutes implements Routes {
  public static final String AUTH_REQUEST = "/v1/urls/auth-request";

  /** Envoy appends the path of the client's request to this path, and keeps its method. */
  private static final String EXT_AUTHZ = "/v1/urls/ext-authz/";

  private static final List<HandlerType> EXT_AUTHZ_METHODS =
      List.of(
          HandlerType.GET,
          HandlerType.HEAD,
          HandlerType.POST,
          HandlerType.PUT,
          HandlerType.PATCH,
          HandlerType.DELETE,
          HandlerType.OPTIONS);

  public static final Scope NEEDS = Scope.IDS_READ;

  public static final String ORIGINAL_URI = "X-Original-URI";
  private static final String RESOLVED_URI = "X-Resolved-URI";
  private static final String RESOLVED_TYPES = "X-Resolved-Types";
  private static final String STATUS = "X-Coatcheck-Status";
  private static final String PROBLEM = "X-Coatcheck-Problem";

  private final UrlResolver resolver;

  public ProxyRoutes(UrlResolver resolver) {
    this.resolver = resolver;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, AUTH_REQUEST, NEEDS, this::authRequest);
    for (HandlerType method : EXT_AUTHZ_METHODS) {
      endpoints.secured(method, EXT_AUTHZ + "<uri>", NEEDS, this::extAuthz);
    }
  }

  private Answer authRequest(Context ctx) {
    Query.none(ctx);
    return authRequest(Collections.list(ctx.req().getHeaders(ORIGINAL_URI)), RequestId.of(ctx));
  }

  /** What {@link #AUTH_REQUEST} answers to a request without a query. */
  public Answer authRequest(List<String> uris, String requestId) {
    if (uris.size() != 1) {
      throw new Refusal(
          ProblemCode.HEADER_INVALID,
          ORIGINAL_URI,
          "Send the path and query of the request in this header, once.");
    }
    return forNginx(outcome(uris.getFirst()), requestId);
  }

  /** Envoy passes refusals on to the client as they are, so these have their true status. */
  private Answer extAuthz(Context ctx) {
    String query = ctx.req().getQueryString();
    String path = ctx.req().getRequestURI().substring(EXT_AUTHZ.length() - 1);
    return switch (outcome(query == null ? path : path + "?" + query)) {
      case UrlOutcome.Resolved resolved -> resolved(resolved);
      case UrlOutcome.Refused refused -> Answer.of(problem(refused));
    };
  }

  private UrlOutcome outcome(String uri) {
    return uri.startsWith("/")
        ? resolver.resolve(uri)
        : new UrlOutcome.Invalid("does not start with a slash");
  }

  private static Answer forNginx(UrlOutcome outcome, String requestId) {
    return switch (outcome) {
      case UrlOutcome.Resolved resolved -> resolved(resolved);
      case UrlOutcome.Refused refused -> {
        Problem problem = problem(refused);
        yield Answer.of(
                Problem.at(
                    ProblemCode.URL_REFUSED,
                    ORIGINAL_URI,
                    "X-Coatcheck-Status and X-Coatcheck-Problem say what to answer."))
            .with(STATUS, Integer.toString(problem.code().status()))
            .with(PROBLEM, problem.line(requestId));
      }
    };
  }

  /** The proxy's client has no API key, so it is not told when and why an ID was revoked. */
  private static Problem problem(UrlOutcome.Refused refused) {
    return switch (refused) {
      case UrlOutcome.Revoked _ ->
          Problem.of(ProblemCode.PUBLIC_ID_REVOKED, "The public ID was ended for good.");
      case UrlOutcome.Invalid _, UrlOutcome.Malformed _, UrlOutcome.Unknown _ ->
          UrlProblems.of("url", refused);
    };
  }

  private static Answer resolved(UrlOutcome.Resolved resolved) {
    String types =
        resolved.ids().stream()
            .map(id -> id.target().type().name())
            .collect(Collectors.joining(","));
    return Answer.empty(200).with(RESOLVED_URI, resolved.resolved()).with(RESOLVED_TYPES, types);
  }
}
