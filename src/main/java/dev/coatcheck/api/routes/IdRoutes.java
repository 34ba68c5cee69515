package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.api.server.RequestId;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyBounds;
import dev.coatcheck.core.key.KeyDraw;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.mapping.Listing;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.Mappings;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads one public ID at a time, and the list of them: {@code /v1/ids}. */
public final class IdRoutes {
  public static final String ONE = "/v1/ids/{id}";
  public static final Scope ONE_NEEDS = Scope.IDS_READ;

  private static final int LIMIT_MAX = 100;
  private static final int LIMIT_DEFAULT = 20;
  private static final Instant TIME_MIN = Instant.EPOCH;
  private static final Instant TIME_MAX = Instant.parse("9999-12-31T00:00:00Z");

  private final Mappings mappings;
  private final Registry registry;
  private final Problems problems;

  public IdRoutes(Mappings mappings, Registry registry, Problems problems) {
    this.mappings = mappings;
    this.registry = registry;
    this.problems = problems;
  }

  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/ids", Scope.IDS_READ, this::list);
    endpoints.secured(HandlerType.GET, ONE, ONE_NEEDS, this::resolve);
    endpoints.secured(HandlerType.GET, "/v1/types/{type}/keys/{key}", Scope.IDS_READ, this::lookup);
  }

  private void resolve(Context ctx) {
    Query.allow(ctx);
    resolved(mappings.resolver().resolve(ctx.pathParam("id")), RequestId.of(ctx)).send(ctx);
  }

  /** What {@link #ONE} answers, where memory alone decides; never waits. */
  public Optional<Answer> resolvedIfCached(String id, String requestId) {
    return mappings.resolver().resolveIfCached(id).map(outcome -> resolved(outcome, requestId));
  }

  private static Answer resolved(ResolveOutcome outcome, String requestId) {
    return switch (outcome) {
      case ResolveOutcome.Found(Mapping mapping) ->
          Answer.json(200, Views.PublicIdView.of(mapping));
      case ResolveOutcome.Merged merged -> Answer.json(200, Views.PublicIdView.of(merged));
      case ResolveOutcome.Revoked revoked -> Problems.answer(revokedId("id", revoked), requestId);
      case ResolveOutcome.Unknown _ -> Problems.answer(unknownId("id"), requestId);
      case ResolveOutcome.Malformed malformed ->
          Problems.answer(malformedId("id", malformed), requestId);
    };
  }

  private void lookup(Context ctx) {
    Query.allow(ctx);
    Type type = TypeRoutes.typeNamed(registry, "type", ctx.pathParam("type"));
    mappings
        .lookup()
        .find(type, key(type, "key", ctx.pathParam("key")))
        .ifPresentOrElse(
            mapping -> Answer.json(ctx, 200, Views.PublicIdView.of(mapping)),
            () -> problems.write(ctx, unknownKey("key")));
  }

  private void list(Context ctx) {
    Query.allow(ctx, "type", "limit", "starting_after", "created_after", "created_before");
    String name = ctx.queryParam("type");
    if (name == null) {
      throw Refusal.ofParameter("type", "Say which type's IDs to list.");
    }
    Type type = TypeRoutes.typeNamed(registry, "type", name);
    Optional<Key> cursor =
        Optional.ofNullable(ctx.queryParam("starting_after")).map(text -> cursor(type, text));
    int limit = limit(ctx.queryParam("limit"));
    Optional<Instant> after = instant(ctx, "created_after");
    Optional<Instant> before = instant(ctx, "created_before");
    boolean timed = after.isPresent() || before.isPresent();
    Optional<KeyBounds> within =
        timed
            ? type.keysWithin(
                after.map(time -> time.plusMillis(1)).orElse(TIME_MIN),
                before.map(time -> time.minusMillis(1)).orElse(TIME_MAX))
            : Optional.empty();
    Listing.Page page =
        timed && within.isEmpty()
            ? Listing.Page.EMPTY
            : mappings.listing().page(type, within, cursor, limit);
    Answer.json(
        ctx,
        200,
        Views.ListView.page(
            page.mappings().stream().map(Views.PublicIdView::of).toList(), page.hasMore()));
  }

  private Key cursor(Type type, String text) {
    return switch (mappings.resolver().resolve(text)) {
      case ResolveOutcome.Found(Mapping mapping) when mapping.type().number() == type.number() ->
          mapping.key();
      // Ended ones are listed as well, so they can be the last of a page.
      case ResolveOutcome.Ended ended when ended.mapping().type().number() == type.number() ->
          ended.mapping().key();
      case ResolveOutcome.Malformed malformed ->
          throw new Refusal(malformedId("starting_after", malformed));
      case ResolveOutcome.Found _, ResolveOutcome.Ended _, ResolveOutcome.Unknown _ ->
          throw Refusal.ofParameter(
              "starting_after",
              "Send the last public ID of the page before; it must be of the same type.");
    };
  }

  private static int limit(@Nullable String text) {
    if (text == null) {
      return LIMIT_DEFAULT;
    }
    if (!text.matches("[1-9][0-9]{0,2}") || Integer.parseInt(text) > LIMIT_MAX) {
      throw Refusal.ofParameter("limit", "A limit is 1 to 100.");
    }
    return Integer.parseInt(text);
  }

  private static Optional<Instant> instant(Context ctx, String param) {
    String text = ctx.queryParam(param);
    if (text == null) {
      return Optional.empty();
    }
    try {
      Instant instant = Instant.parse(text);
      if (!instant.isBefore(TIME_MIN) && instant.isBefore(TIME_MAX)) {
        return Optional.of(instant);
      }
    } catch (DateTimeParseException malformed) {
      // refused below
    }
    throw Refusal.ofParameter(
        param, "Send a time such as 2026-01-31T12:00:00Z, from the year 1970 to 9999.");
  }

  static Key key(Type type, String param, String text) {
    return type.keyScheme().parse(text).orElseThrow(() -> new Refusal(malformedKey(type, param)));
  }

  static Problem malformedKey(Type type, String param) {
    return Problem.at(
        ProblemCode.KEY_MALFORMED,
        param,
        switch (type.keyScheme()) {
          case SNOWFLAKE -> "A key of this type is a decimal from 0 to 2^63 - 1, as a string.";
          case UUIDV7 -> "A key of this type is a UUID in 36 lower-case characters.";
        });
  }

  static Problem malformedId(String param, ResolveOutcome.Malformed malformed) {
    return Problem.malformed(param, malformed.reason(), malformed.position());
  }

  static Problem unknownId(String param) {
    return Problem.at(
        ProblemCode.PUBLIC_ID_UNKNOWN, param, "It is well formed, but was never issued here.");
  }

  static Problem revokedId(String param, ResolveOutcome.Revoked revoked) {
    return Problem.revoked(
        param, new Problem.Ended(revoked.endedAt(), revoked.reason().orElse(null)));
  }

  static Problem unknownKey(String param) {
    return Problem.at(ProblemCode.KEY_UNKNOWN, param, "Mint one with POST /v1/ids and this key.");
  }

  static Problem keysUnavailable(KeyDraw.NoKeys why) {
    return keysUnavailable(why, "");
  }

  /** {@code before} are sentences that come first in the detail, or nothing. */
  static Problem keysUnavailable(KeyDraw.NoKeys why, String before) {
    return switch (why) {
      case KeyDraw.Refused(String _, long retryAfterMillis) ->
          Problem.retryAfter(
              ProblemCode.KEYS_UNAVAILABLE,
              before
                  + "Send the request again after the time in Retry-After. GET /v1/workers shows"
                  + " who holds what.",
              Math.toIntExact(Math.max(1, Math.ceilDiv(retryAfterMillis, 1_000))));
      case KeyDraw.NoWorkerRange(String layout) ->
          Problem.retryAfter(
              ProblemCode.NO_WORKER_RANGE,
              before
                  + "COATCHECK_WORKERS of this instance has no range for the layout "
                  + layout
                  + ". Send the request to another instance, or give this one a range.",
              Problems.jitteredSeconds());
    };
  }
}
