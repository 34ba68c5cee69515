package dev.coatcheck.api.routes.urls;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.routes.IdProblems;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.routes.PublicIdView;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.Legacy;
import dev.coatcheck.ids.redirect.LegacyOutcome;
import dev.coatcheck.ids.redirect.Proxies;
import dev.coatcheck.ids.redirect.ScanGuard;
import dev.coatcheck.ids.redirect.Visitor;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.eclipse.jetty.http.HttpField;

/**
 * Legacy IDs: {@code /v1/legacy/{type}/{n}} for callers with an API key, {@code /legacy/{type}/{n}}
 * for anyone.
 */
public final class LegacyRoutes implements Routes {
  public static final String OPEN = "/legacy/{type}/{n}";

  public static final String FORWARDED_FOR = "X-Forwarded-For";
  private static final DateTimeFormatter HTTP_DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  private final Legacy legacy;
  private final Proxies proxies;
  private final Parameters parameters;

  public LegacyRoutes(Legacy legacy, Proxies proxies, Parameters parameters) {
    this.legacy = legacy;
    this.proxies = proxies;
    this.parameters = parameters;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/legacy/{type}/{n}", Scope.IDS_READ, this::find);
    endpoints.open(HandlerType.GET, OPEN, this::follow);
    endpoints.open(HandlerType.HEAD, OPEN, this::follow);
  }

  /** A public ID that was found by a legacy ID. */
  private record LegacyIdView(@JsonUnwrapped PublicIdView publicId, String legacyId) {
    static Answer answer(PublicIdView publicId, long number) {
      return Answer.json(200, new LegacyIdView(publicId, Long.toString(number)));
    }
  }

  private Answer find(Context ctx) {
    Query.none(ctx);
    long number = Parameters.legacyNumber(ctx.pathParam("n"), "n");
    return switch (legacy.lookup().find(parameters.type(ctx, "type"), number)) {
      case ResolveOutcome.Found(Mapping mapping) ->
          LegacyIdView.answer(PublicIdView.of(mapping), number);
      case ResolveOutcome.Merged merged -> LegacyIdView.answer(PublicIdView.of(merged), number);
      case ResolveOutcome.Revoked revoked -> Answer.of(IdProblems.revoked("n", revoked));
      case ResolveOutcome.Unknown _, ResolveOutcome.Malformed _ ->
          Answer.of(
              Problem.at(
                  ProblemCode.LEGACY_ID_UNKNOWN,
                  "n",
                  "No public ID of this type has this legacy ID."));
    };
  }

  private Answer follow(Context ctx) {
    return follow(
        ctx.pathParam("type"),
        ctx.pathParam("n"),
        ctx.req().getRemoteAddr(),
        Collections.list(ctx.req().getHeaders(FORWARDED_FOR)));
  }

  /**
   * What {@link #OPEN} answers. The number is read first, so that a malformed number tells nothing
   * about types.
   *
   * @param client the address of the connection
   * @param forwardedFor the values of {@link #FORWARDED_FOR}
   */
  public Answer follow(String type, String n, String client, List<String> forwardedFor) {
    long number = Parameters.legacyNumber(n, "n");
    Visitor visitor = proxies.visitor(client, forwardedFor);
    return switch (legacy.redirector().follow(type, number, visitor)) {
      case LegacyOutcome.To(
              String location,
              int status,
              int maxAgeSeconds,
              LegacyOutcome.Notice notice) ->
          Answer.redirect(status, location, maxAgeSeconds)
              .with(headers(notice))
              .with("Link", "<" + location + ">; rel=\"canonical\"");
      case LegacyOutcome.Over(LegacyOutcome.Notice notice) ->
          Answer.of(
                  Problem.of(
                      ProblemCode.LEGACY_IDS_GONE,
                      "Legacy IDs of this type are no longer supported. Use the public ID."))
              .with(headers(notice));
      case LegacyOutcome.Gone _ -> Answer.of(UrlProblems.gone());
      case LegacyOutcome.Scanning(int seconds) -> scanning(seconds);
      case LegacyOutcome.NotFound _ -> Answer.of(UrlProblems.notFound());
    };
  }

  /** The headers are those of draft-ietf-httpapi-ratelimit-headers-10. */
  private static Answer scanning(int seconds) {
    return Answer.of(
            Problem.retryAfter(
                ProblemCode.ABNORMAL_USAGE_DETECTED,
                "This address asked for too many consecutive or unknown legacy IDs. Wait for the"
                    + " time in Retry-After, or call GET /v1/legacy with an API key, which has no"
                    + " limit.",
                seconds))
        .with(
            "RateLimit-Policy",
            "\"legacy\";q=" + ScanGuard.NUMBERS_MAX + ";w=" + ScanGuard.WINDOW_SECONDS)
        .with("RateLimit", "\"legacy\";r=0;t=" + seconds);
  }

  /** RFC 9745 has a date as structured fields spell it, RFC 8594 as HTTP spells it. */
  private static List<HttpField> headers(LegacyOutcome.Notice notice) {
    List<HttpField> headers = new ArrayList<>();
    notice
        .deprecatedAt()
        .map(at -> new HttpField("Deprecation", "@" + at.getEpochSecond()))
        .ifPresent(headers::add);
    notice
        .sunsetAt()
        .map(at -> new HttpField("Sunset", HTTP_DATE.format(at)))
        .ifPresent(headers::add);
    return headers;
  }
}
