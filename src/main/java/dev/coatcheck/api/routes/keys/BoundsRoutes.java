package dev.coatcheck.api.routes.keys;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyBounds;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.LayoutParse;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.TimeBuckets;
import dev.coatcheck.ids.access.Scope;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The bounds of the keys of a span of time: {@code /v1/keys/bounds}. */
public final class BoundsRoutes implements Routes {
  private static final int BUCKETS_MAX = 1_000;
  private static final long BUCKET_MILLIS_MAX = 1_000_000_000_000L;

  private final Parameters parameters;
  private final InstantSource clock;

  public BoundsRoutes(Parameters parameters, InstantSource clock) {
    this.parameters = parameters;
    this.clock = clock;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.secured(HandlerType.GET, "/v1/keys/bounds", Scope.KEYS_READ, this::bounds);
  }

  /** {@code from} is inclusive, {@code to} exclusive. Without keys if none have such a time. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record BoundsView(
      String object,
      String scheme,
      @Nullable String layout,
      Instant from,
      Instant to,
      boolean empty,
      @Nullable String smallest,
      @Nullable String largest,
      @Nullable Long bucketMillis,
      @Nullable List<BucketView> buckets) {}

  private record BucketView(
      long number, Instant from, Instant to, String smallest, String largest) {
    static Optional<BucketView> of(KeyTimes times, TimeBuckets buckets, long number) {
      Instant from = buckets.begin(number);
      Instant to = buckets.end(number);
      return times
          .between(from, to)
          .map(
              keys ->
                  new BucketView(number, from, to, keys.smallest().text(), keys.largest().text()));
    }
  }

  private Answer bounds(Context ctx) {
    Query query =
        Query.of(ctx, "type", "layout", "from", "from_key", "to", "to_key", "bucket_millis");
    KeyTimes times = times(ctx, query);
    Instant from =
        end(query, times, "from", KeyTimes.Tick::begin)
            .orElseThrow(
                () -> Refusal.ofParameter("from", "Send the time or the key at which to begin."));
    Instant to = end(query, times, "to", KeyTimes.Tick::end).orElseGet(clock::instant);
    if (to.isBefore(from)) {
      throw Refusal.ofParameter(
          Stream.of("to", "to_key", "from", "from_key")
              .filter(name -> query.text(name).isPresent())
              .findFirst()
              .orElseThrow(),
          "The span must not begin after its end, which is now if it is left out.");
    }
    Optional<Long> bucketMillis = query.text("bucket_millis").map(BoundsRoutes::bucketMillis);
    Optional<KeyBounds> keys = times.between(from, to);
    return Answer.json(
        200,
        new BoundsView(
            "key_bounds",
            times.wireName(),
            times instanceof KeyTimes.Snowflakes(SnowflakeLayout layout) ? layout.name() : null,
            from,
            to,
            keys.isEmpty(),
            keys.map(KeyBounds::smallest).map(Key::text).orElse(null),
            keys.map(KeyBounds::largest).map(Key::text).orElse(null),
            bucketMillis.orElse(null),
            bucketMillis.map(millis -> buckets(times, millis, from, to)).orElse(null)));
  }

  /** An end of the span: a time, or the time of a key. */
  private static Optional<Instant> end(
      Query query, KeyTimes times, String name, Function<KeyTimes.Tick, Instant> ofTick) {
    String keyName = name + "_key";
    Optional<String> key = query.text(keyName);
    if (key.isPresent() && query.text(name).isPresent()) {
      throw Refusal.ofParameter(keyName, "Send one of " + name + " and " + keyName + ".");
    }
    return key.isEmpty()
        ? query.time(name)
        : Optional.of(
            times
                .kind()
                .parse(key.get())
                .flatMap(times::tickOf)
                .map(ofTick)
                .orElseThrow(
                    () ->
                        Refusal.ofParameter(
                            keyName,
                            "This is no key with a time of the scheme " + times.wireName() + ".")));
  }

  private KeyTimes times(Context ctx, Query query) {
    Optional<String> type = query.text("type");
    Optional<String> layout = query.text("layout");
    if (type.isPresent() == layout.isPresent()) {
      throw Refusal.ofParameter("type", "Send exactly one of type and layout.");
    }
    if (type.isPresent()) {
      return Parameters.keyTimes(
          parameters.type(RequestCaller.types(ctx), "type", type.get()), "type");
    }
    return switch (SnowflakeLayout.parse(layout.orElseThrow(), clock.instant())) {
      case LayoutParse.Known(SnowflakeLayout known) -> new KeyTimes.Snowflakes(known);
      case LayoutParse.Invalid(String reason) ->
          throw Refusal.ofParameter("layout", "The layout is refused: " + reason + ".");
    };
  }

  private static long bucketMillis(String text) {
    return Query.number(text)
        .filter(millis -> millis >= 1 && millis <= BUCKET_MILLIS_MAX)
        .orElseThrow(
            () ->
                Refusal.ofParameter(
                    "bucket_millis",
                    "This must be an integer from 1 to " + BUCKET_MILLIS_MAX + "."));
  }

  /** The buckets that can contain keys: none before the scheme's epoch or after its end. */
  private static List<BucketView> buckets(
      KeyTimes times, long bucketMillis, Instant from, Instant to) {
    TimeBuckets buckets = new TimeBuckets(times.epochMillis(), bucketMillis);
    Instant epoch = Instant.ofEpochMilli(times.epochMillis());
    Instant first = from.isBefore(epoch) ? epoch : from;
    if (buckets.count(first, to) > BUCKETS_MAX) {
      throw Refusal.ofParameter(
          "bucket_millis",
          "The time from from to to is more than %s buckets. Send larger buckets or a shorter time."
              .formatted(BUCKETS_MAX));
    }
    return buckets.newestFirst(first, to).stream()
        .flatMap(number -> BucketView.of(times, buckets, number).stream())
        .toList();
  }
}
