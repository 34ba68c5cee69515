package dev.coatcheck.api.routes;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.JsonObject;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.api.server.RequestBody;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.url.PublishOutcome;
import dev.coatcheck.ids.url.UrlOutcome;
import dev.coatcheck.ids.url.UrlPublisher;
import dev.coatcheck.ids.url.UrlResolver;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Whole URLs, for the edge of an API: {@code /v1/urls}. */
public final class UrlRoutes {
  private static final int URLS_MAX = 1_000;

  private final UrlResolver resolver;
  private final UrlPublisher publisher;
  private final Problems problems;

  public UrlRoutes(UrlResolver resolver, UrlPublisher publisher, Problems problems) {
    this.resolver = resolver;
    this.publisher = publisher;
    this.problems = problems;
  }

  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/urls/resolve", Scope.IDS_READ, this::resolve);
    endpoints.json(
        HandlerType.POST,
        "/v1/urls/resolve",
        Scope.IDS_READ,
        RequestBody.BATCH_BYTES_MAX,
        this::resolveAll);
    endpoints.json(
        HandlerType.POST, "/v1/urls/publish", Scope.IDS_READ, RequestBody.BYTES_MAX, this::publish);
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
    List<String> urls = RequestBody.read(ctx).allow("urls").strings("urls", URLS_MAX);
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
    JsonObject body = RequestBody.read(ctx).allow("url", "template");
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
