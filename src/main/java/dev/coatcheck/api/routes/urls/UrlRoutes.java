package dev.coatcheck.api.routes.urls;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.Asked;
import dev.coatcheck.api.routes.IdProblems;
import dev.coatcheck.api.routes.Items;
import dev.coatcheck.api.routes.Items.Item;
import dev.coatcheck.api.routes.Items.Shown;
import dev.coatcheck.api.routes.LegacyHeaders;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.routes.PublicIdView;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.redirect.LegacyPaused;
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

/** Resolves and publishes whole URLs, for the edge of an API: {@code /v1/urls}. */
public final class UrlRoutes implements Routes {
  private static final int URLS_MAX = 1_000;

  private final UrlResolver resolver;
  private final UrlPublisher publisher;
  private final Proxies proxies;

  public UrlRoutes(UrlResolver resolver, UrlPublisher publisher, Proxies proxies) {
    this.resolver = resolver;
    this.publisher = publisher;
    this.proxies = proxies;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/urls/resolve", Scope.IDS_READ, this::resolve);
    endpoints.batchInTurn("/v1/urls/resolve", Scope.IDS_READ, this::resolveAll);
    endpoints.json(HandlerType.POST, "/v1/urls/publish", Scope.IDS_READ, this::publish);
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record ResolvedUrlView(
      String object,
      String url,
      String resolved,
      @Nullable String publicUrl,
      List<ResolvedIdView> ids) {
    static ResolvedUrlView of(String url, UrlOutcome.Resolved resolved) {
      return new ResolvedUrlView(
          "resolved_url",
          url,
          resolved.resolved(),
          resolved.publicUrl().orElse(null),
          resolved.ids().stream().map(ResolvedIdView::of).toList());
    }
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record ResolvedIdView(
      String id,
      String type,
      String key,
      String status,
      @Nullable String mergedInto,
      @Nullable String legacyId) {
    static ResolvedIdView of(UrlOutcome.ResolvedId resolved) {
      Mapping target = resolved.target();
      Mapping.Status status = resolved.merged() ? Mapping.Status.MERGED : Mapping.Status.ACTIVE;
      return new ResolvedIdView(
          resolved.id(),
          target.type().name(),
          target.key().text(),
          status.wireName(),
          resolved.merged() ? target.publicId().toString() : null,
          resolved.legacyId().isPresent() ? Long.toString(resolved.legacyId().getAsLong()) : null);
    }
  }

  private Answer resolve(Context ctx) {
    String url =
        Query.of(ctx, "url")
            .text("url")
            .orElseThrow(
                () -> Refusal.ofParameter("url", "Send the URL to resolve, percent-encoded."));
    UrlOutcome outcome =
        resolver.resolve(url, RequestCaller.types(ctx), Asked.of(ctx).caller(proxies));
    Answer answer = Items.answer(resolved("url", url, outcome));
    return outcome instanceof UrlOutcome.LegacyBrownout(LegacyPaused paused)
        ? answer.with(LegacyHeaders.of(paused.notice()))
        : answer;
  }

  private Answer resolveAll(Context ctx, RequestBody body) {
    List<String> urls = body.object().allow("urls").strings("urls", URLS_MAX);
    List<UrlOutcome> outcomes =
        resolver.resolveAll(urls, RequestCaller.types(ctx), Asked.of(ctx).caller(proxies));
    return Items.answer(
        IntStream.range(0, urls.size())
            .mapToObj(
                index -> resolved("urls[" + index + "]", urls.get(index), outcomes.get(index)))
            .toList(),
        true);
  }

  private static Item<Shown> resolved(String param, String url, UrlOutcome outcome) {
    return switch (outcome) {
      case UrlOutcome.Resolved resolved -> Items.shown(200, ResolvedUrlView.of(url, resolved));
      case UrlOutcome.Refused refused -> new Item.Refused<>(UrlProblems.of(param, refused));
    };
  }

  private record PublishedUrlView(
      String object, String url, String published, List<PublicIdView> ids) {
    static PublishedUrlView of(String url, String published, List<Mapping> ids) {
      return new PublishedUrlView(
          "published_url", url, published, ids.stream().map(PublicIdView::of).toList());
    }
  }

  private Answer publish(Context ctx, RequestBody request) {
    JsonObject body = request.object().allow("url", "template");
    String url = body.string("url");
    return switch (publisher.publish(url, body.string("template"), RequestCaller.types(ctx))) {
      case PublishOutcome.Published(String published, List<Mapping> ids) ->
          Answer.json(200, PublishedUrlView.of(url, published, ids));
      case PublishOutcome.InvalidUrl(String why) -> Answer.of(UrlProblems.invalid("url", why));
      case PublishOutcome.InvalidTemplate _ ->
          Answer.of(
              Problem.at(
                  ProblemCode.FIELD_INVALID,
                  "template",
                  "A template is a path such as /charges/{charge}, with the names of types in"
                      + " braces."));
      case PublishOutcome.TypeNotAllowed _ -> Answer.of(Problem.typeNotAllowed());
      case PublishOutcome.UnknownType _ -> Answer.of(Parameters.typeUnknown("template"));
      case PublishOutcome.MalformedKey(Type type) ->
          Answer.of(Parameters.keyMalformed(type, "url"));
      case PublishOutcome.UnknownKey _ -> Answer.of(IdProblems.keyUnknown("url"));
    };
  }
}
