package dev.coatcheck.api.routes;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.JsonObject;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.RequestBody;
import dev.coatcheck.cluster.lease.KeyGenerators;
import dev.coatcheck.cluster.lease.WorkerState;
import dev.coatcheck.cluster.lease.Workers;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyDraw;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.core.key.LayoutParse;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.access.Scope;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keys without public IDs, and who may make them: {@code /v1/keys}, {@code /v1/workers}. */
public final class KeyRoutes {
  private final KeyGenerators keys;
  private final Workers workers;
  private final InstantSource clock;
  private final Problems problems;

  public KeyRoutes(KeyGenerators keys, Workers workers, InstantSource clock, Problems problems) {
    this.keys = keys;
    this.workers = workers;
    this.clock = clock;
    this.problems = problems;
  }

  public void register(Endpoints endpoints) {
    endpoints.json(
        HandlerType.POST, "/v1/keys", Scope.KEYS_WRITE, RequestBody.BYTES_MAX, this::next);
    endpoints.secured(HandlerType.GET, "/v1/workers", Scope.KEYS_READ, this::workers);
  }

  /** {@code first} and {@code count} say it all where the keys are consecutive numbers. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  private record KeyBatchView(
      String object,
      String scheme,
      List<String> keys,
      @Nullable String first,
      @Nullable Integer count) {
    static KeyBatchView of(KeyScheme scheme, KeyDraw.Drawn drawn) {
      List<String> texts = drawn.keys().stream().map(Key::text).toList();
      return drawn.contiguous()
          ? new KeyBatchView("key_batch", scheme.wireName(), texts, texts.getFirst(), texts.size())
          : new KeyBatchView("key_batch", scheme.wireName(), texts, null, null);
    }
  }

  private void next(Context ctx) {
    Query.allow(ctx);
    IdempotencyHeader.refuse(
        ctx,
        "Keys are not kept, so the same ones can't be answered again. Leave the header out: keys of"
            + " a lost answer are never given again.");
    JsonObject body = RequestBody.read(ctx).allow("scheme", "layout", "count");
    KeyScheme scheme =
        KeyScheme.named(body.string("scheme"))
            .orElseThrow(() -> body.invalid("scheme", "The schemes are snowflake and uuidv7."));
    SnowflakeLayout layout = layout(body, "layout", scheme, clock.instant());
    int count = body.integer("count", 1, KeyGenerator.COUNT_MAX);
    switch (keys.of(scheme, layout).next(count)) {
      case KeyDraw.Drawn drawn -> Answer.json(ctx, 200, KeyBatchView.of(scheme, drawn));
      case KeyDraw.NoKeys why -> problems.write(ctx, IdRoutes.keysUnavailable(why));
    }
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
            new WorkerView(
                "worker",
                state.layout(),
                state.worker(),
                "held",
                held.holder(),
                held.grantedUntil(),
                held.expiresAt(),
                null);
        case WorkerState.Standing.Resting resting ->
            new WorkerView(
                "worker",
                state.layout(),
                state.worker(),
                "resting",
                resting.holder(),
                null,
                null,
                resting.until());
      };
    }
  }

  private void workers(Context ctx) {
    Query.allow(ctx);
    Answer.json(ctx, 200, Views.ListView.of(workers.list().stream().map(WorkerView::of).toList()));
  }

  /** A layout's name or spelling from a body; the default one if the field is missing. */
  static SnowflakeLayout layout(JsonObject body, String field, KeyScheme scheme, Instant now) {
    String spelling = body.optionalString(field).orElse(SnowflakeLayout.DEFAULT.name());
    if (scheme != KeyScheme.SNOWFLAKE && !spelling.equals(SnowflakeLayout.DEFAULT.name())) {
      throw body.invalid(field, "Only Snowflake keys have layouts.");
    }
    return switch (SnowflakeLayout.parse(spelling, now)) {
      case LayoutParse.Known(SnowflakeLayout layout) -> layout;
      case LayoutParse.Invalid(String reason) ->
          throw body.invalid(field, "The layout is refused: " + reason + ".");
    };
  }
}
