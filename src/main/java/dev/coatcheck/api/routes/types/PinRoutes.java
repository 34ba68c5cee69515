package dev.coatcheck.api.routes.types;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.pin.PinOutcome;
import dev.coatcheck.ids.pin.Pins;
import dev.coatcheck.ids.registry.PutOutcome;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Pins keys of a leaked seal key, and closes its era: {@code /v1/types/{name}/pin}. */
public final class PinRoutes implements Routes {
  private final Registry registry;
  private final Parameters parameters;
  private final Pins pins;

  public PinRoutes(Registry registry, Parameters parameters, Pins pins) {
    this.registry = registry;
    this.parameters = parameters;
    this.pins = pins;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.json(HandlerType.POST, "/v1/types/{name}/pin", Scope.TYPES_WRITE, this::pin);
  }

  private Answer pin(Context ctx, RequestBody request) {
    IdempotencyHeader.refuse(ctx, "Send no Idempotency-Key: pinning a key again changes nothing.");
    JsonObject body = request.object().allow("seal_key", "keys", "close");
    Type type = parameters.type(ctx, "name");
    String sealKey = TypeBody.sealKey(body);
    List<String> texts = body.optionalStrings("keys", Pins.KEYS_MAX);
    boolean closes = body.bool("close", false);
    if (texts.isEmpty() && !closes) {
      throw body.missing("keys", "Send keys to pin, or close: true.");
    }
    if (type.sealing().isEmpty()) {
      throw new Refusal(
          ProblemCode.TYPE_NOT_SEALABLE,
          "name",
          "The type is not sealed: each of its public IDs has a row already.");
    }
    List<Long> keys =
        IntStream.range(0, texts.size())
            .mapToObj(
                index ->
                    ((Key.Bigint) Parameters.key(type, "keys[" + index + "]", texts.get(index)))
                        .value())
            .toList();
    return switch (pins.pin(type, sealKey, keys, RequestCaller.actor(ctx))) {
      case PinOutcome.Pinned pinned -> closed(ctx, type, sealKey, closes, pinned, texts);
      case PinOutcome.EraUnknown _ ->
          Answer.of(
              Problem.at(
                  ProblemCode.ERA_REFUSED,
                  "seal_key",
                  "No era of the type has this seal key. GET /v1/types/{name} lists its eras."));
      case PinOutcome.NotOfEra(int index) ->
          Answer.of(
              Problem.at(
                  ProblemCode.ERA_REFUSED,
                  "keys[" + index + "]",
                  "The time of this key is not in the era of the seal key. Nothing was done."));
      case PinOutcome.Busy _ ->
          Answer.of(
              Problem.busy(
                  "Another request mints one of the keys. Nothing was done; send the same request"
                      + " again."));
    };
  }

  private Answer closed(
      Context ctx,
      Type type,
      String sealKey,
      boolean closes,
      PinOutcome.Pinned pinned,
      List<String> keys) {
    Type after = type;
    if (closes) {
      PutOutcome outcome =
          registry
              .closeEra(type.name(), sealKey, RequestCaller.actor(ctx))
              .orElseThrow(() -> new Refusal(Parameters.typeUnknown("name")));
      switch (outcome) {
        case PutOutcome.Updated(Type updated) -> after = updated;
        case PutOutcome.Refused refused -> {
          return Answer.of(TypeChanges.problem(refused));
        }
        case PutOutcome.Created _, PutOutcome.VersionDiffers _, PutOutcome.LinksWouldDie _ ->
            throw new IllegalStateException("no outcome of a close: " + outcome);
      }
    }
    Map<String, @Nullable Object> view = new LinkedHashMap<>();
    view.put("object", "pin");
    view.put("type", type.name());
    view.put("seal_key", sealKey);
    view.put("pinned", pinned.pinned());
    view.put("present", pinned.present());
    view.put("conflicts", pinned.conflicts().stream().map(keys::get).toList());
    view.put("closed_at", closedAt(after, sealKey).orElse(null));
    return Answer.json(200, view);
  }

  private static Optional<Instant> closedAt(Type type, String sealKey) {
    return type.sealing()
        .flatMap(sealing -> sealing.eraWith(sealKey))
        .flatMap(era -> era.closedAt());
  }
}
