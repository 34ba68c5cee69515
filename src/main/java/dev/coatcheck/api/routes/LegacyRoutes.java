package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.api.server.RequestId;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.Legacy;
import dev.coatcheck.ids.redirect.LegacyOutcome;
import dev.coatcheck.ids.redirect.Proxies;
import dev.coatcheck.ids.redirect.ScanGuard;
import dev.coatcheck.ids.redirect.Visitor;
import dev.coatcheck.ids.registry.LegacyNumber;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;

/**
 * Old auto-increment numbers: {@code /v1/legacy/{type}/{n}} for callers with a key, {@code
 * /legacy/{type}/{n}} for anyone, where whatever leads nowhere gets the 404 of {@code /r}.
 */
public final class LegacyRoutes {
  private static final String OPEN = "/legacy/{type}/{n}";
  private static final DateTimeFormatter HTTP_DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  private final Legacy legacy;
  private final Proxies proxies;
  private final Registry registry;
  private final Problems problems;

  public LegacyRoutes(Legacy legacy, Proxies proxies, Registry registry, Problems problems) {
    this.legacy = legacy;
    this.proxies = proxies;
    this.registry = registry;
    this.problems = problems;
  }

  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/legacy/{type}/{n}", Scope.IDS_READ, this::find);
    endpoints.open(HandlerType.GET, OPEN, this::follow);
    endpoints.open(HandlerType.HEAD, OPEN, this::follow);
  }

  private void find(Context ctx) {
    Query.allow(ctx);
    long number = number(ctx);
    Type type = TypeRoutes.typeNamed(registry, "type", ctx.pathParam("type"));
    switch (legacy.lookup().find(type, number)) {
      case ResolveOutcome.Found(Mapping mapping) ->
          found(ctx, Views.PublicIdView.of(mapping), number);
      case ResolveOutcome.Merged merged -> found(ctx, Views.PublicIdView.of(merged), number);
      case ResolveOutcome.Revoked revoked -> problems.write(ctx, IdRoutes.revokedId("n", revoked));
      case ResolveOutcome.Unknown _, ResolveOutcome.Malformed _ ->
          problems.write(
              ctx,
              Problem.at(
                  ProblemCode.LEGACY_ID_UNKNOWN,
                  "n",
                  "No public ID of this type has this number."));
    }
  }

  private static void found(Context ctx, Views.PublicIdView view, long number) {
    Answer.json(ctx, 200, new Views.LegacyIdView(view, Long.toString(number)));
  }

  /** The number is judged first, so that a malformed one tells nothing about types. */
  private void follow(Context ctx) {
    long number = number(ctx);
    Visitor visitor =
        proxies.visitor(
            ctx.req().getRemoteAddr(), Collections.list(ctx.req().getHeaders("X-Forwarded-For")));
    answer(legacy.redirector().follow(ctx.pathParam("type"), number, visitor), RequestId.of(ctx))
        .send(ctx);
  }

  private static long number(Context ctx) {
    return LegacyNumber.parse(ctx.pathParam("n"))
        .orElseThrow(
            () ->
                new Refusal(
                    Problem.at(
                        ProblemCode.LEGACY_ID_MALFORMED,
                        "n",
                        AliasRoutes.sentence(AliasScheme.LEGACY))));
  }

  private static Answer answer(LegacyOutcome outcome, String requestId) {
    return switch (outcome) {
      case LegacyOutcome.To to -> redirect(to);
      case LegacyOutcome.Over(LegacyOutcome.Notice notice) ->
          Problems.answer(
                  Problem.of(
                      ProblemCode.LEGACY_IDS_GONE,
                      "The old numbers of this type are answered no more. Use the public ID."),
                  requestId)
              .with(notice(notice));
      case LegacyOutcome.Gone _ -> RedirectRoutes.gone(requestId);
      case LegacyOutcome.Scanning(int seconds) ->
          Problems.answer(
                  Problem.retryAfter(
                      ProblemCode.ABNORMAL_USAGE_DETECTED,
                      "Too many numbers in a row, or too many that lead nowhere. Callers with an"
                          + " API key are not limited.",
                      seconds),
                  requestId)
              .with(rateLimit(seconds));
      case LegacyOutcome.NotFound _ -> RedirectRoutes.notFound(requestId);
    };
  }

  /** As draft-ietf-httpapi-ratelimit-headers-10 spells it. */
  private static List<HttpField> rateLimit(int seconds) {
    return List.of(
        new HttpField(
            "RateLimit-Policy",
            "\"legacy\";q=" + ScanGuard.NUMBERS_MAX + ";w=" + ScanGuard.WINDOW_SECONDS),
        new HttpField("RateLimit", "\"legacy\";r=0;t=" + seconds));
  }

  private static Answer redirect(LegacyOutcome.To to) {
    List<HttpField> headers = new ArrayList<>(notice(to.notice()));
    headers.add(new HttpField(HttpHeader.LOCATION, to.location()));
    headers.add(
        new HttpField(HttpHeader.CACHE_CONTROL, RedirectRoutes.cacheControl(to.maxAgeSeconds())));
    headers.add(new HttpField("Link", "<" + to.location() + ">; rel=\"canonical\""));
    return new Answer(to.status(), "text/plain", headers, new byte[0]);
  }

  private static List<HttpField> notice(LegacyOutcome.Notice notice) {
    List<HttpField> headers = new ArrayList<>();
    notice.deprecatedAt().map(LegacyRoutes::deprecation).ifPresent(headers::add);
    notice.sunsetAt().map(LegacyRoutes::sunset).ifPresent(headers::add);
    return headers;
  }

  /** RFC 9745: a date as structured fields spell it. */
  private static HttpField deprecation(Instant at) {
    return new HttpField("Deprecation", "@" + at.getEpochSecond());
  }

  /** RFC 8594: a date as HTTP spells it. */
  private static HttpField sunset(Instant at) {
    return new HttpField("Sunset", HTTP_DATE.format(at));
  }
}
