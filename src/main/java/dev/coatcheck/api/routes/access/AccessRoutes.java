package dev.coatcheck.api.routes.access;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ClientAddress;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.exchange.RequestId;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.OpenRoute;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.ApiKey;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.KeyOutcome;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.access.RateLimit;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.access.StoredKey;
import dev.coatcheck.ids.access.TokenBuckets;
import dev.coatcheck.ids.redirect.Visitor;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** API keys: {@code /v1/access}. */
public final class AccessRoutes implements Routes {
  private static final String ALL = "/v1/access/keys";
  private static final String ONE = ALL + "/{id}";
  private static final RateLimit LEAK_CALLS = new RateLimit(60, 3_600);
  private static final String NO_STORED_SECRET =
      "The answer contains a secret, which is not stored. Leave the header out.";

  private final ApiKeys keys;
  private final Proxies proxies;
  private final TokenBuckets<Visitor> leakCalls;

  public AccessRoutes(ApiKeys keys, Proxies proxies, LongSupplier nanoTime) {
    this.keys = keys;
    this.proxies = proxies;
    this.leakCalls = new TokenBuckets<>(nanoTime);
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/access/self", Scope.SELF, this::self);
    endpoints.json(HandlerType.POST, ALL, Scope.ACCESS_ADMIN, this::create);
    endpoints.secured(HandlerType.GET, ALL, Scope.ACCESS_ADMIN, this::list);
    endpoints.secured(HandlerType.GET, ONE, Scope.ACCESS_ADMIN, this::one);
    endpoints.mergePatch(ONE, Scope.ACCESS_ADMIN, this::patch);
    // A key may do these to itself; ApiKeys knows who may do them to others.
    endpoints.json(HandlerType.POST, ONE + "/rotate", Scope.SELF, this::rotate);
    endpoints.optionalJson(
        HandlerType.POST, ONE + "/revoke", Scope.SELF, this::revoke, "successors");
    endpoints.openJson(OpenRoute.REVOKE_LEAKED, this::revokeLeaked);
  }

  private Answer self(Context ctx) {
    Query.none(ctx);
    return found(keys.find(RequestCaller.of(ctx).caller().keyId()));
  }

  private Answer one(Context ctx) {
    Query.none(ctx);
    requireAllowed(ctx);
    return found(ApiKey.idOf(ctx.pathParam("id")).flatMap(keys::find));
  }

  private Answer found(Optional<ApiKeys.Listed> key) {
    return key.map(listed -> tagged(200, listed.key(), ApiKeys.json(listed)))
        .orElseGet(() -> Answer.of(KeyProblems.unknown()));
  }

  private Answer list(Context ctx) {
    Query query = Query.of(ctx, "principal", "status", "after", "limit");
    int limit = query.limit();
    List<ApiKeys.Listed> page =
        keys.list(filter(query, RequestCaller.of(ctx).caller().rights(), keys, limit));
    return Answer.json(
        200,
        ListView.page(page.stream().limit(limit).map(ApiKeys::json).toList(), page.size() > limit));
  }

  /**
   * The keys that a query of a caller asks for.
   *
   * @throws Refusal if it can't be read
   */
  public static ApiKeys.Filter filter(Query query, Rights caller, ApiKeys keys, int limit) {
    return new ApiKeys.Filter(
        caller.allowedTypes(),
        query.text("principal"),
        query.text("status").map(AccessRoutes::status),
        query.text("after").map(text -> cursor(text, keys, caller.allowedTypes())),
        limit);
  }

  private static StoredKey.Status status(String text) {
    return WireNamed.find(StoredKey.Status.class, text)
        .orElseThrow(() -> Refusal.ofParameter("status", "Send active, expired or revoked."));
  }

  /** One that the caller may not see is refused like one that isn't there. */
  private static String cursor(String text, ApiKeys keys, AllowedTypes allowed) {
    return ApiKey.idOf(text)
        .filter(
            keyId -> keys.find(keyId).filter(key -> KeyProblems.isFor(allowed, key)).isPresent())
        .orElseThrow(() -> Refusal.ofParameter("after", "Send the id of the last key of a page."));
  }

  private Answer create(Context ctx, RequestBody body) {
    IdempotencyHeader.refuse(ctx, NO_STORED_SECRET);
    return answer(keys.create(KeyBody.created(body.object()), RequestCaller.actor(ctx)));
  }

  private Answer patch(Context ctx, RequestBody body) {
    requireAllowed(ctx);
    return ApiKey.idOf(ctx.pathParam("id"))
        .map(
            keyId ->
                answer(
                    keys.patch(
                        keyId,
                        key -> KeyBody.patched(body.object(), key),
                        Parameters.ifMatch(ctx, "API key"),
                        RequestCaller.actor(ctx))))
        .orElseGet(() -> Answer.of(KeyProblems.unknown()));
  }

  private Answer rotate(Context ctx, RequestBody request) {
    IdempotencyHeader.refuse(ctx, NO_STORED_SECRET);
    ApiKeys.Rotation rotation = KeyBody.rotation(request.object());
    requireAllowed(ctx);
    return answer(keys.rotate(keyId(ctx), rotation, RequestCaller.actor(ctx)));
  }

  private Answer revoke(Context ctx, RequestBody request) {
    request.object().allow();
    boolean keepsSuccessors = Query.of(ctx, "successors").is("successors", "keep");
    requireAllowed(ctx);
    return answer(keys.revoke(keyId(ctx), keepsSuccessors, RequestCaller.actor(ctx)));
  }

  private Answer revokeLeaked(Context ctx, RequestBody request) {
    InetAddress address = ClientAddress.of(ctx, proxies);
    if (leakCalls.take(Visitor.at(address), LEAK_CALLS)
        instanceof TokenBuckets.Taken.Refused(_, int waitSeconds)) {
      return Answer.of(
          Problem.overQuota(
              "address",
              "An address may make %d of these calls an hour.".formatted(LEAK_CALLS.requests()),
              waitSeconds));
    }
    List<String> texts = request.object().allow("keys").strings("keys", ApiKeys.LEAKED_MAX);
    keys.revokeLeaked(
        texts,
        new Actor(
            Actor.ANONYMOUS,
            Optional.empty(),
            Optional.of(address.getHostAddress()),
            Optional.of(RequestId.of(ctx))));
    return Answer.json(202, Map.of("object", "leak_report", "received", texts.size()));
  }

  private void requireAllowed(Context ctx) {
    KeyProblems.requireAllowed(ctx.pathParam("id"), keys, RequestCaller.types(ctx));
  }

  /** The ID in the path; a text that is none can't be the caller's, so its scope decides. */
  private static String keyId(Context ctx) {
    return ApiKey.idOf(ctx.pathParam("id")).orElse("");
  }

  private Answer answer(KeyOutcome outcome) {
    return switch (outcome) {
      case KeyOutcome.Made(ApiKey key, StoredKey stored) -> {
        Map<String, @Nullable Object> view = ApiKeys.json(ApiKeys.Listed.made(stored));
        view.put("secret", key.secretText());
        yield tagged(201, stored, view);
      }
      case KeyOutcome.Patched(StoredKey key) -> found(keys.find(key.keyId()));
      case KeyOutcome.Revoked(StoredKey key, _) -> found(keys.find(key.keyId()));
      case KeyOutcome.MadeBefore _ -> throw new IllegalStateException("no form was sent");
      case KeyOutcome.Refused refused -> Answer.of(KeyProblems.of(refused));
    };
  }

  private static Answer tagged(int status, StoredKey key, Map<String, @Nullable Object> view) {
    return Answer.json(status, view).with("ETag", "\"" + key.version() + "\"");
  }
}
