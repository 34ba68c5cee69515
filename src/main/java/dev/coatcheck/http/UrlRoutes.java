package dev.coatcheck.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.access.Scope;
import dev.coatcheck.entrance.Endpoints;
import dev.coatcheck.exchange.Answer;
import dev.coatcheck.exchange.JsonObject;
import dev.coatcheck.exchange.Problem;
import dev.coatcheck.exchange.ProblemCode;
import dev.coatcheck.exchange.Problems;
import dev.coatcheck.exchange.Query;
import dev.coatcheck.exchange.Refusal;
import dev.coatcheck.exchange.RequestBody;
import dev.coatcheck.mapping.Mapping;
import dev.coatcheck.mapping.ResolveOutcome;
import dev.coatcheck.registry.Type;
import dev.coatcheck.url.PublishOutcome;
import dev.coatcheck.url.UrlOutcome;
import dev.coatcheck.url.UrlPublisher;
import dev.coatcheck.url.UrlResolver;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Whole URLs, for the edge of an API: {@code /v1/urls}. */
final class UrlRoutes {
  private static final int URLS_MAX = 1_000;

  private final UrlResolver resolver;
  private final UrlPublisher publisher;
  private final Problems problems;

  UrlRoutes(UrlResolver resolver, UrlPublisher publisher, Problems problems) {
    this.resolver = resolver;
    this.publisher = publisher;
    this.problems = problems;
  }

  void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/urls/resolve", Scope.IDS_READ, this::resolve);
    endpoints.secured(HandlerType.POST, "/v1/urls/resolve", Scope.IDS_READ, this::resolveAll);
    endpoints.secured(HandlerType.POST, "/v1/urls/publish", Scope.IDS_READ, this::publish);
  }

  private record ResolvedUrlView(
      String object, String url, String resolved, List<ResolvedIdView> ids) {
    static ResolvedUrlView of(String url, UrlOutcome.Resolved resolved) {
      return new ResolvedUrlView(
          "resolved_url",
          url,
          resolved.resolved(),
          resolved.ids().stream().map(ResolvedIdView::of).toList());
    }
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record ResolvedIdView(
      String id, String type, String key, String status, @Nullable String mergedInto) {
    static ResolvedIdView of(UrlOutcome.ResolvedId resolved) {
      Mapping target = resolved.target();
      Mapping.Status status = resolved.merged() ? Mapping.Status.MERGED : Mapping.Status.ACTIVE;
      return new ResolvedIdView(
          resolved.id(),
          target.type().name(),
          target.key().text(),
          status.wireName(),
          resolved.merged() ? target.publicId().toString() : null);
    }
  }

  /** One URL's outcome: resolved or an error, never both. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record ItemView(
      int index, int status, @Nullable ResolvedUrlView resolvedUrl, Problem.@Nullable Brief error) {
    static ItemView refused(int index, Problem problem) {
      return new ItemView(index, problem.code().status(), null, problem.brief());
    }
  }

  private void resolve(Context ctx) {
    Query.allow(ctx, "url");
    String url = ctx.queryParam("url");
    if (url == null) {
      throw Refusal.ofParameter("url", "Send the URL to resolve, percent-encoded.");
    }
    switch (resolver.resolve(url)) {
      case UrlOutcome.Resolved resolved -> Answer.json(ctx, 200, ResolvedUrlView.of(url, resolved));
      case UrlOutcome.Refused refused -> problems.write(ctx, problem("url", refused));
    }
  }

  private void resolveAll(Context ctx) {
    Query.allow(ctx);
    List<String> urls =
        RequestBody.read(ctx, RequestBody.BATCH_BYTES_MAX).allow("urls").strings("urls", URLS_MAX);
    List<UrlOutcome> outcomes = resolver.resolveAll(urls);
    Answer.json(
        ctx,
        200,
        Views.ListView.of(
            IntStream.range(0, urls.size())
                .mapToObj(index -> item(index, urls.get(index), outcomes.get(index)))
                .toList()));
  }

  private static ItemView item(int index, String url, UrlOutcome outcome) {
    return switch (outcome) {
      case UrlOutcome.Resolved resolved ->
          new ItemView(index, 200, ResolvedUrlView.of(url, resolved), null);
      case UrlOutcome.Refused refused ->
          ItemView.refused(index, problem("urls[" + index + "]", refused));
    };
  }

  private record PublishedUrlView(
      String object, String url, String published, List<Views.PublicIdView> ids) {}

  private void publish(Context ctx) {
    Query.allow(ctx);
    JsonObject body = RequestBody.read(ctx, RequestBody.BYTES_MAX).allow("url", "template");
    String url = body.string("url");
    switch (publisher.publish(url, body.string("template"))) {
      case PublishOutcome.Published(String published, List<Mapping> ids) ->
          Answer.json(
              ctx,
              200,
              new PublishedUrlView(
                  "published_url",
                  url,
                  published,
                  ids.stream().map(Views.PublicIdView::of).toList()));
      case PublishOutcome.InvalidUrl(String why) -> problems.write(ctx, invalidUrl("url", why));
      case PublishOutcome.InvalidTemplate _ ->
          throw body.invalid(
              "template",
              "A template is a path such as /charges/{charge}, with the names of types in braces.");
      case PublishOutcome.UnknownType _ -> problems.write(ctx, TypeRoutes.unknownType("template"));
      case PublishOutcome.MalformedKey(Type type) ->
          problems.write(ctx, IdRoutes.malformedKey(type, "url"));
      case PublishOutcome.UnknownKey _ -> problems.write(ctx, IdRoutes.unknownKey("url"));
    }
  }

  static Problem problem(String param, UrlOutcome.Refused refused) {
    return switch (refused) {
      case UrlOutcome.Invalid(String why) -> invalidUrl(param, why);
      case UrlOutcome.Malformed malformed ->
          Problem.malformed(param, malformed.reason(), malformed.position());
      case UrlOutcome.Revoked(ResolveOutcome.Revoked revoked) -> IdRoutes.revokedId(param, revoked);
      case UrlOutcome.Unknown _ -> IdRoutes.unknownId(param);
    };
  }

  private static Problem invalidUrl(String param, String why) {
    return Problem.at(ProblemCode.URL_INVALID, param, "The URL " + why + ".");
  }
}
