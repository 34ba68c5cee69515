package dev.coatcheck.api.routes.access;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ClientAddress;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
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
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.ids.access.AccessDecision;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.ApiKey;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.KeyOutcome;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.access.RateLimit;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.access.StoredKey;
import dev.coatcheck.ids.access.TokenBuckets;
import dev.coatcheck.ids.redirect.Visitor;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** API keys: {@code /v1/access}. */
public final class AccessRoutes implements Routes {
  private static final String ALL = "/v1/access/keys";
  private static final String ONE = ALL + "/{id}";
  private static final int LIMIT_MAX = 100;
  private static final int LIMIT_DEFAULT = 20;
  private static final RateLimit LEAK_CALLS = new RateLimit(60, 3_600);
  private static final String NO_STORED_SECRET =
      "The answer contains a secret, which is not stored. Leave the header out.";
  private static final Pattern ETAG = Pattern.compile("\"([1-9][0-9]{0,8})\"");

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
    return key.map(listed -> tagged(200, listed.key(), keys.json(listed)))
        .orElseGet(() -> Answer.of(unknown()));
  }

  private Answer list(Context ctx) {
    Query query = Query.of(ctx, "principal", "status", "after", "limit");
    int limit = query.integer("limit", 1, LIMIT_MAX, LIMIT_DEFAULT);
    List<ApiKeys.Listed> page =
        keys.list(
            new ApiKeys.Filter(
                RequestCaller.types(ctx),
                query.text("principal"),
                query.text("status").map(AccessRoutes::status),
                query.text("after").map(this::cursor),
                limit));
    return Answer.json(
        200,
        ListView.page(page.stream().limit(limit).map(keys::json).toList(), page.size() > limit));
  }

  private static StoredKey.Status status(String text) {
    return WireNamed.find(StoredKey.Status.class, text)
        .orElseThrow(() -> Refusal.ofParameter("status", "Send active, expired or revoked."));
  }

  private String cursor(String text) {
    return ApiKey.idOf(text)
        .filter(keyId -> keys.find(keyId).isPresent())
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
                        expectedVersion(ctx),
                        RequestCaller.actor(ctx))))
        .orElseGet(() -> Answer.of(unknown()));
  }

  private Answer rotate(Context ctx, RequestBody request) {
    IdempotencyHeader.refuse(ctx, NO_STORED_SECRET);
    JsonObject body = request.object().allow("overlap_seconds", "expires_at");
    int overlapSecondsMax = (int) ApiKeys.Rotation.OVERLAP_MAX.toSeconds();
    ApiKeys.Rotation rotation =
        new ApiKeys.Rotation(
            Duration.ofSeconds(body.integer("overlap_seconds", 0, overlapSecondsMax)),
            body.nullableTime("expires_at"));
    requireAllowed(ctx);
    return answer(keys.rotate(keyId(ctx), rotation, RequestCaller.actor(ctx)));
  }

  private Answer revoke(Context ctx, RequestBody request) {
    request.object().allow();
    boolean keepsSuccessors =
        Query.of(ctx, "successors")
            .text("successors")
            .map(
                text -> {
                  if (!text.equals("keep")) {
                    throw Refusal.ofParameter("successors", "Send keep, or leave it out.");
                  }
                  return true;
                })
            .orElse(false);
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

  /** The rights of a key name types, so a caller for some types sees keys for no others. */
  private void requireAllowed(Context ctx) {
    AllowedTypes allowed = RequestCaller.types(ctx);
    if (!allowed.areAll()
        && ApiKey.idOf(ctx.pathParam("id"))
            .flatMap(keys::find)
            .flatMap(listed -> listed.key().rights().types())
            .filter(types -> types.stream().allMatch(allowed::hold))
            .isEmpty()) {
      throw new Refusal(Problem.typeNotAllowed());
    }
  }

  /** The ID in the path; a text that is none can't be the caller's, so its scope decides. */
  private static String keyId(Context ctx) {
    return ApiKey.idOf(ctx.pathParam("id")).orElse("");
  }

  private Answer answer(KeyOutcome outcome) {
    return switch (outcome) {
      case KeyOutcome.Made(ApiKey key, StoredKey stored) -> {
        Map<String, @Nullable Object> view =
            keys.json(new ApiKeys.Listed(stored, Optional.empty()));
        view.put("secret", key.secretText());
        yield tagged(201, stored, view);
      }
      case KeyOutcome.Patched(StoredKey key) -> found(keys.find(key.keyId()));
      case KeyOutcome.Revoked(StoredKey key, _) -> found(keys.find(key.keyId()));
      case KeyOutcome.Unknown _ -> Answer.of(unknown());
      case KeyOutcome.CallerEnded _ ->
          Answer.of(Endpoints.refusal(new AccessDecision.Unauthenticated("ended meanwhile")));
      case KeyOutcome.CallerLacksScope _ ->
          Answer.of(Endpoints.refusal(new AccessDecision.Forbidden(Scope.ACCESS_ADMIN)));
      case KeyOutcome.BeyondCaller(String field) ->
          refused(
              ProblemCode.RIGHTS_EXCEEDED,
              field,
              "Your API key must have every right of the key itself, before the change and after"
                  + " it.");
      case KeyOutcome.PrincipalTaken _ ->
          refused(
              ProblemCode.PRINCIPAL_TAKEN,
              "principal",
              "Another API key has or had this principal. Send that of your key, or a new one.");
      case KeyOutcome.TypeUnknown _ -> Answer.of(Parameters.typeUnknown("types"));
      case KeyOutcome.ExpiryPassed _ ->
          refused(
              ProblemCode.FIELD_INVALID,
              "expires_at",
              "This time has passed. Send a later one; POST /v1/access/keys/{id}/revoke ends a key"
                  + " now.");
      case KeyOutcome.Ended _ ->
          refused(
              ProblemCode.API_KEY_ENDED,
              "id",
              "The API key was revoked or has expired, for good. Create another one.");
      case KeyOutcome.AlreadyRotated _ ->
          refused(
              ProblemCode.API_KEY_ROTATED,
              "id",
              "The API key was rotated before, and its successor is in force. Rotate that one.");
      case KeyOutcome.VersionDiffers _ ->
          refused(
              ProblemCode.PRECONDITION_FAILED,
              "If-Match",
              "The API key has changed. Read it again and repeat the change.");
    };
  }

  private static Answer refused(ProblemCode code, String param, String detail) {
    return Answer.of(Problem.at(code, param, detail));
  }

  private static Problem unknown() {
    return Problem.at(
        ProblemCode.API_KEY_UNKNOWN,
        "id",
        "No API key has this ID. GET /v1/access/keys lists the keys.");
  }

  private static OptionalInt expectedVersion(Context ctx) {
    String ifMatch = ctx.header("If-Match");
    if (ifMatch == null) {
      return OptionalInt.empty();
    }
    var version = ETAG.matcher(ifMatch);
    if (!version.matches()) {
      throw new Refusal(
          ProblemCode.HEADER_INVALID,
          "If-Match",
          "Send the ETag that a GET of the API key gave, for instance \"1\".");
    }
    return OptionalInt.of(Integer.parseInt(version.group(1)));
  }

  private static Answer tagged(int status, StoredKey key, Map<String, @Nullable Object> view) {
    return Answer.json(status, view).with("ETag", "\"" + key.version() + "\"");
  }
}
