package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.Asked;
import dev.coatcheck.api.routes.LegacyHeaders;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.redirect.RedirectOutcome;
import dev.coatcheck.ids.url.ProxiedOutcome;
import dev.coatcheck.ids.url.ProxiedUrls;
import dev.coatcheck.ids.url.UrlOutcome;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.stream.Collectors;
import org.eclipse.jetty.http.HttpField;

/**
 * Resolves the URI of a request for the proxy that is about to pass it on. The URI comes in a
 * header or as a path, and goes back in a header.
 *
 * <p>nginx ({@code auth_request}) distinguishes only 2xx, 401, 403 and the rest, and reads no body.
 * So a URI that is not to be passed on is 403 here, and headers have the true answer.
 */
public final class ProxyRoutes implements Routes {
  public static final String AUTH_REQUEST = "/v1/urls/auth-request";

  /** Envoy appends the path of the client's request to this path, and keeps its method. */
  public static final String EXT_AUTHZ = "/v1/urls/ext-authz/";

  private static final List<HandlerType> EXT_AUTHZ_METHODS =
      List.of(
          HandlerType.GET,
          HandlerType.POST,
          HandlerType.PUT,
          HandlerType.PATCH,
          HandlerType.DELETE,
          HandlerType.OPTIONS);

  public static final Scope NEEDS = Scope.IDS_READ;

  private static final String ORIGINAL_URI = "X-Original-URI";
  private static final String LEGACY = "X-Coatcheck-Legacy";
  private static final String BARE_KEYS = "X-Coatcheck-Bare-Keys";
  private static final String RESOLVED_URI = "X-Resolved-URI";
  private static final String RESOLVED_TYPES = "X-Resolved-Types";
  private static final String STATUS = "X-Coatcheck-Status";
  private static final String PROBLEM = "X-Coatcheck-Problem";
  private static final String CACHE_CONTROL = "X-Coatcheck-Cache-Control";

  /** Of the two permanent redirects the one that keeps the method of a request. */
  private static final int REDIRECT_STATUS = 308;

  private final ProxiedUrls urls;
  private final Proxies proxies;

  public ProxyRoutes(ProxiedUrls urls, Proxies proxies) {
    this.urls = urls;
    this.proxies = proxies;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, AUTH_REQUEST, NEEDS, this::authRequest);
    for (HandlerType method : EXT_AUTHZ_METHODS) {
      endpoints.secured(method, EXT_AUTHZ, NEEDS, this::extAuthz);
      endpoints.secured(method, EXT_AUTHZ + "<uri>", NEEDS, this::extAuthz);
    }
  }

  /** Whether a header has the second of its two values; the first one is its default. */
  private static boolean says(Asked asked, String name, String otherwise, String value) {
    List<String> values = asked.headers().apply(name);
    if (values.isEmpty() || values.equals(List.of(otherwise))) {
      return false;
    }
    if (values.equals(List.of(value))) {
      return true;
    }
    throw new Refusal(
        ProblemCode.HEADER_INVALID,
        name,
        "Send " + otherwise + " or " + value + " in this header, once, or leave it out.");
  }

  private Answer authRequest(Context ctx) {
    Query.none(ctx);
    return authRequest(Asked.of(ctx), RequestCaller.types(ctx));
  }

  /** What {@link #AUTH_REQUEST} answers to a request without a query. */
  public Answer authRequest(Asked asked, AllowedTypes allowed) {
    List<String> uris = asked.headers().apply(ORIGINAL_URI);
    if (uris.size() != 1) {
      throw new Refusal(
          ProblemCode.HEADER_INVALID,
          ORIGINAL_URI,
          "Send the path and query of the request in this header, once.");
    }
    return forNginx(decide(uris.getFirst(), asked, allowed), asked.requestId());
  }

  /** Envoy passes all other answers on to the client, so these are as the client gets them. */
  private Answer extAuthz(Context ctx) {
    String query = ctx.req().getQueryString();
    String path = ctx.req().getRequestURI().substring(EXT_AUTHZ.length() - 1);
    return switch (decide(
        query == null ? path : path + "?" + query, Asked.of(ctx), RequestCaller.types(ctx))) {
      case ProxiedOutcome.PassOn(UrlOutcome.Resolved resolved, RedirectOutcome.Notice notice) ->
          passOn(resolved, notice);
      case ProxiedOutcome.Redirect(
              String location,
              int maxAgeSeconds,
              RedirectOutcome.Notice notice) ->
          LegacyAnswers.redirect(REDIRECT_STATUS, location, maxAgeSeconds, notice);
      case ProxiedOutcome.Refused(UrlOutcome.Refused refused) -> Answer.of(problem(refused));
      case ProxiedOutcome.LegacyRefused(RedirectOutcome.Refused refused) ->
          LegacyAnswers.refused(refused);
      case ProxiedOutcome.BareKey _ -> Answer.of(UrlProblems.notFound());
    };
  }

  private ProxiedOutcome decide(String uri, Asked asked, AllowedTypes allowed) {
    ProxiedUrls.Wish wish =
        new ProxiedUrls.Wish(
            says(asked, LEGACY, "resolve", "redirect"), says(asked, BARE_KEYS, "pass", "refuse"));
    return urls.decide(uri, wish, allowed, asked.caller(proxies));
  }

  private static Answer forNginx(ProxiedOutcome outcome, String requestId) {
    return switch (outcome) {
      case ProxiedOutcome.PassOn(UrlOutcome.Resolved resolved, RedirectOutcome.Notice notice) ->
          passOn(resolved, notice);
      case ProxiedOutcome.Redirect(
              String location,
              int maxAgeSeconds,
              RedirectOutcome.Notice notice) ->
          refused(REDIRECT_STATUS)
              .with("Location", location)
              .with(LegacyHeaders.of(location, notice))
              .with(CACHE_CONTROL, Answer.cacheControl(maxAgeSeconds));
      case ProxiedOutcome.Refused(UrlOutcome.Refused refused) ->
          refused(problem(refused), List.of(), requestId);
      case ProxiedOutcome.LegacyRefused(RedirectOutcome.Refused refused) ->
          refused(LegacyAnswers.problem(refused), LegacyAnswers.headers(refused), requestId);
      case ProxiedOutcome.BareKey _ -> refused(UrlProblems.notFound(), List.of(), requestId);
    };
  }

  private static Answer refused(Problem problem, List<HttpField> headers, String requestId) {
    return refused(problem.code().status())
        .with(PROBLEM, problem.line(requestId))
        .with(headers)
        .withRetryAfterOf(problem);
  }

  private static Answer refused(int status) {
    return Answer.of(
            Problem.at(
                ProblemCode.URL_REFUSED,
                ORIGINAL_URI,
                "X-Coatcheck-Status and the other headers say what to answer."))
        .with(STATUS, Integer.toString(status));
  }

  /** The proxy's client has no API key, so it is not told when and why an ID was revoked. */
  private static Problem problem(UrlOutcome.Refused refused) {
    return switch (refused) {
      case UrlOutcome.Revoked _, UrlOutcome.Erased _ ->
          Problem.of(ProblemCode.PUBLIC_ID_REVOKED, "The public ID was ended for good.");
      case UrlOutcome.Invalid _,
          UrlOutcome.Malformed _,
          UrlOutcome.NotAllowed _,
          UrlOutcome.Unknown _,
          UrlOutcome.LegacyMalformed _,
          UrlOutcome.LegacyUnknown _,
          UrlOutcome.LegacyBrownout _ ->
          UrlProblems.of("url", refused);
    };
  }

  private static Answer passOn(UrlOutcome.Resolved resolved, RedirectOutcome.Notice notice) {
    String types =
        resolved.ids().stream()
            .map(id -> id.target().type().name())
            .collect(Collectors.joining(","));
    return Answer.empty(200)
        .with(RESOLVED_URI, resolved.resolved())
        .with(RESOLVED_TYPES, types)
        .with(LegacyHeaders.of(notice));
  }
}
