package dev.coatcheck.api.routes.keys;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.ListView;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.exchange.RequestQuota;
import dev.coatcheck.api.routes.IdProblems;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.cluster.grant.SegmentDefinition;
import dev.coatcheck.cluster.lease.KeyFactory;
import dev.coatcheck.cluster.lease.WorkerState;
import dev.coatcheck.cluster.lease.Workers;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.DatedKeyGenerator;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import dev.coatcheck.core.scheme.LeasedSnos;
import dev.coatcheck.core.scheme.RocketMqId;
import dev.coatcheck.core.scheme.SnoId;
import dev.coatcheck.core.scheme.TextKeys;
import dev.coatcheck.core.scheme.TextSchemes;
import dev.coatcheck.ids.access.Scope;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Keys without public IDs, and the workers that generate them: {@code /v1/keys}, {@code
 * /v1/workers}.
 */
public final class KeyRoutes implements Routes {
  private final KeyFactory keys;
  private final Workers workers;
  private final Parameters parameters;
  private final TextSchemes texts = new TextSchemes();
  private final InstantSource clock;

  public KeyRoutes(KeyFactory keys, Workers workers, Parameters parameters, InstantSource clock) {
    this.keys = keys;
    this.workers = workers;
    this.parameters = parameters;
    this.clock = clock;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.json(HandlerType.POST, "/v1/keys", Scope.KEYS_WRITE, this::next);
    endpoints.secured(HandlerType.GET, "/v1/workers", Scope.KEYS_READ, this::workers);
  }

  /** Consecutive keys have {@code first} and {@code count} too. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record KeyBatchView(
      String object,
      String scheme,
      List<String> keys,
      @Nullable String first,
      @Nullable Integer count) {
    static KeyBatchView of(String scheme, KeyOutcome.Drawn drawn) {
      List<String> texts = drawn.keys().stream().map(Key::text).toList();
      return drawn.contiguous()
          ? new KeyBatchView("key_batch", scheme, texts, texts.getFirst(), texts.size())
          : of(scheme, texts);
    }

    static KeyBatchView of(String scheme, List<String> texts) {
      return new KeyBatchView("key_batch", scheme, texts, null, null);
    }
  }

  private Answer next(Context ctx, RequestBody request) {
    IdempotencyHeader.refuse(
        ctx,
        "Keys are not stored, so an Idempotency-Key can't repeat them. Leave the header out; keys"
            + " of a lost answer are never issued again.");
    RequestQuota.countItems(ctx, request.itemCount());
    JsonObject body = request.object();
    String scheme = body.string("scheme");
    return switch (scheme) {
      case KeyGeneration.SNOWFLAKE -> {
        body.allow("scheme", "layout", "count", "at");
        SnowflakeLayout layout =
            Parameters.layout(body, body.optionalString("layout"), clock.instant());
        yield answer(scheme, drawn(body, new KeyTimes.Snowflakes(layout)));
      }
      case KeyGeneration.UUIDV7 -> {
        body.allow("scheme", "layout", "count", "at");
        if (body.has("layout")) {
          throw body.invalid("layout", "Only Snowflake keys have layouts. Leave layout out.");
        }
        yield answer(scheme, drawn(body, new KeyTimes.UuidsV7()));
      }
      case KeyGeneration.SEGMENT -> {
        RequestCaller.requireAllTypes(ctx); // several types may draw from one segment
        yield answer(scheme, numbered(body.allow("scheme", "tag", "count")));
      }
      case "sno" -> {
        body.allow("scheme", "count", "at", "metabyte");
        int metabyte = body.integer("metabyte", 0, SnoId.METABYTE_MAX, 0);
        yield converted(
            scheme, body, LeasedSnos.LAYOUT, key -> LeasedSnos.of(key, metabyte).toString());
      }
      case "rocketmq" ->
          converted(scheme, body.allow("scheme", "count", "at"), RocketMqId.LAYOUT, RocketMqId::of);
      default -> Answer.json(200, KeyBatchView.of(scheme, written(scheme, body)));
    };
  }

  /** Texts of another system. Each is a Snowflake key of a layout in another form. */
  private Answer converted(
      String scheme, JsonObject body, SnowflakeLayout layout, LongFunction<String> form) {
    return answer(
        drawn(body, new KeyTimes.Snowflakes(layout)),
        drawn ->
            KeyBatchView.of(
                scheme,
                drawn.keys().stream().map(key -> form.apply(((Key.Bigint) key).value())).toList()));
  }

  /** Texts, which are not keys of types. */
  private List<String> written(String scheme, JsonObject body) {
    TextKeys<?> named =
        texts
            .named(scheme)
            .orElseThrow(
                () ->
                    body.invalid(
                        "scheme",
                        "The schemes are ksuid, rocketmq, segment, sno, snowflake, ulid and"
                            + " uuidv7."));
    body.allow("scheme", "count", "at");
    int count = body.integer("count", 1, KeyGenerator.COUNT_MAX);
    Optional<Instant> at = body.nullableTime("at");
    at.ifPresent(
        time -> {
          requireSoon(body, time);
          if (time.isBefore(named.first()) || !time.isBefore(named.end())) {
            throw body.invalid("at", "The scheme begins at " + named.first() + ".");
          }
        });
    return at.map(time -> named.at(time, count)).orElseGet(() -> named.next(count));
  }

  private void requireSoon(JsonObject body, Instant at) {
    if (at.isAfter(clock.instant().plus(DatedKeyGenerator.AHEAD_MAX))) {
      throw body.invalid("at", "This time lies more than a day in the future.");
    }
  }

  private static Answer answer(String scheme, KeyOutcome draw) {
    return answer(draw, drawn -> KeyBatchView.of(scheme, drawn));
  }

  private static Answer answer(KeyOutcome draw, Function<KeyOutcome.Drawn, KeyBatchView> view) {
    return switch (draw) {
      case KeyOutcome.Drawn drawn -> Answer.json(200, view.apply(drawn));
      case KeyOutcome.NoKeys why -> Answer.of(IdProblems.keysUnavailable(why));
    };
  }

  private KeyOutcome drawn(JsonObject body, KeyTimes times) {
    int count = body.integer("count", 1, KeyGenerator.COUNT_MAX);
    Optional<Instant> at = body.nullableTime("at");
    return at.isPresent()
        ? dated(body, times, at.get(), count)
        : generator(body, times).next(count);
  }

  private KeyGenerator generator(JsonObject body, KeyTimes times) {
    return body.has("layout")
            && times instanceof KeyTimes.Snowflakes(SnowflakeLayout layout)
            && parameters.isOnlySpelled(layout)
        ? keys.spelled(layout).orElseThrow(() -> Parameters.tooManyLayouts(body))
        : keys.of(times);
  }

  private KeyOutcome numbered(JsonObject body) {
    String tag = body.string("tag");
    if (!SegmentDefinition.isTag(tag)) {
      throw body.invalid("tag", SegmentRoutes.TAG_RULE);
    }
    return keys.segments().next(tag, body.integer("count", 1, KeyGenerator.COUNT_MAX));
  }

  private KeyOutcome dated(JsonObject body, KeyTimes times, Instant at, int count) {
    requireSoon(body, at);
    if (!times.hold(at)) {
      throw body.invalid(
          "at",
          "The layout of these keys begins at " + Instant.ofEpochMilli(times.epochMillis()) + ".");
    }
    long[] millis = new long[count];
    Arrays.fill(millis, at.toEpochMilli());
    return keys.dated(times)
        .map(source -> source.at(millis))
        .orElseGet(() -> noDatedWorker(body, ((KeyTimes.Snowflakes) times).layout()));
  }

  private static KeyOutcome noDatedWorker(JsonObject body, SnowflakeLayout layout) {
    if (WorkerUses.dated(layout).isEmpty()) {
      throw body.invalid("at", "Keys for a given time need a layout of 8 workers or more.");
    }
    return new KeyOutcome.NoDatedWorker(layout.name(), WorkerUses.dated(layout));
  }

  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record WorkerView(
      String object,
      String layout,
      int worker,
      String status,
      String holder,
      @Nullable Instant grantedUntil,
      @Nullable Instant expiresAt,
      @Nullable Instant restingUntil) {
    static WorkerView of(WorkerState state) {
      return switch (state.standing()) {
        case WorkerState.Standing.Held held ->
            of(state, "held", held.grantedUntil(), held.expiresAt(), null);
        case WorkerState.Standing.Resting resting ->
            of(state, "resting", null, null, resting.until());
      };
    }

    private static WorkerView of(
        WorkerState state,
        String status,
        @Nullable Instant grantedUntil,
        @Nullable Instant expiresAt,
        @Nullable Instant restingUntil) {
      return new WorkerView(
          "worker",
          state.layout(),
          state.worker(),
          status,
          state.standing().holder(),
          grantedUntil,
          expiresAt,
          restingUntil);
    }
  }

  private Answer workers(Context ctx) {
    RequestCaller.requireAllTypes(ctx);
    Query.none(ctx);
    return Answer.json(200, ListView.of(workers.list().stream().map(WorkerView::of).toList()));
  }
}
