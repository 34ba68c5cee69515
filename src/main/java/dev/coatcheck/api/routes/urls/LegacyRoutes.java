package dev.coatcheck.api.routes.urls;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.JsonObject;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.routes.IdProblems;
import dev.coatcheck.api.routes.Items;
import dev.coatcheck.api.routes.Items.Item;
import dev.coatcheck.api.routes.Items.Shown;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.routes.PublicIdView;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.OpenRoute;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.OlderId.LegacyId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.IdResolver;
import dev.coatcheck.ids.redirect.Proxies;
import dev.coatcheck.ids.redirect.Redirector;
import dev.coatcheck.ids.redirect.Visitor;
import dev.coatcheck.ids.registry.LegacyNumber;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;

/**
 * Legacy IDs: {@code /v1/legacy/{type}/{n}} for callers with an API key, {@code /legacy/{type}/{n}}
 * for anyone.
 */
public final class LegacyRoutes implements Routes {

  public static final String FORWARDED_FOR = "X-Forwarded-For";
  private static final int ITEMS_MAX = 1_000;

  private final IdResolver ids;
  private final Redirector redirector;
  private final Proxies proxies;
  private final Parameters parameters;

  public LegacyRoutes(
      IdResolver ids, Redirector redirector, Proxies proxies, Parameters parameters) {
    this.ids = ids;
    this.redirector = redirector;
    this.proxies = proxies;
    this.parameters = parameters;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/legacy/{type}/{n}", Scope.IDS_READ, this::find);
    endpoints.batchInTurn("/v1/legacy/resolve", Scope.IDS_READ, this::findAll);
    endpoints.open(OpenRoute.LEGACY, this::follow);
  }

  /** A public ID that was found by a legacy ID. */
  private record LegacyIdView(@JsonUnwrapped PublicIdView publicId, String legacyId) {}

  private Answer find(Context ctx) {
    Query.none(ctx);
    long number = Parameters.legacyNumber(ctx.pathParam("n"), "n");
    LegacyId id = new LegacyId(parameters.type(ctx, "type"), number);
    return Items.answer(found("n", number, ids.find(id)));
  }

  private static Item<Shown> found(String param, long number, ResolveOutcome outcome) {
    return switch (outcome) {
      case ResolveOutcome.Found(Mapping mapping) -> shown(PublicIdView.of(mapping), number);
      case ResolveOutcome.Merged merged -> shown(PublicIdView.of(merged), number);
      case ResolveOutcome.Revoked revoked -> new Item.Refused<>(IdProblems.revoked(param, revoked));
      case ResolveOutcome.Unknown _, ResolveOutcome.Malformed _ ->
          new Item.Refused<>(UrlProblems.legacyUnknown(param));
    };
  }

  private static Item<Shown> shown(PublicIdView publicId, long number) {
    return Items.shown(200, new LegacyIdView(publicId, Long.toString(number)));
  }

  private Answer findAll(Context ctx, RequestBody request) {
    JsonObject body = request.object().allow("type", "legacy_ids");
    Type type = parameters.type("type", body.string("type"));
    List<String> texts = body.strings("legacy_ids", ITEMS_MAX);
    List<OptionalLong> numbers = texts.stream().map(LegacyNumber::parse).toList();
    Iterator<ResolveOutcome> outcomes =
        ids.findAll(
                numbers.stream()
                    .flatMapToLong(OptionalLong::stream)
                    .mapToObj(number -> new LegacyId(type, number))
                    .toList())
            .iterator();
    List<Item<Shown>> items = new ArrayList<>(texts.size());
    for (OptionalLong number : numbers) {
      String param = "legacy_ids[" + items.size() + "]";
      items.add(
          number.isPresent()
              ? found(param, number.getAsLong(), outcomes.next())
              : new Item.Refused<>(Parameters.legacyMalformed(param)));
    }
    return Items.answer(items);
  }

  private Answer follow(Context ctx) {
    return follow(
        ctx.pathParam("type"),
        ctx.pathParam("n"),
        ctx.req().getRemoteAddr(),
        Collections.list(ctx.req().getHeaders(FORWARDED_FOR)));
  }

  /**
   * What {@link OpenRoute#LEGACY} answers. A text that is no number tells nothing about types,
   * unless it is an older public ID of a type whose links are public.
   *
   * @param client the address of the connection
   * @param forwardedFor the values of {@link #FORWARDED_FOR}
   */
  public Answer follow(String type, String n, String client, List<String> forwardedFor) {
    Visitor visitor = proxies.visitor(client, forwardedFor);
    return redirector
        .follow(type, n, visitor)
        .map(LegacyAnswers::of)
        .orElseGet(() -> Answer.of(Parameters.legacyMalformed("n")));
  }
}
