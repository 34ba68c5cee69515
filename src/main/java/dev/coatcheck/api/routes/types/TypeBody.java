package dev.coatcheck.api.routes.types;

import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.seal.SealKey;
import dev.coatcheck.core.seal.Sealing;
import dev.coatcheck.ids.registry.ClientNames;
import dev.coatcheck.ids.registry.Policies;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import dev.coatcheck.ids.registry.TypeDefinition.SealedFrom;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads a type from a request, and writes one. A field that is left out has its default; only the
 * rule of client IDs stays as it is, because a change of it would hide the client IDs that the type
 * already has.
 */
public final class TypeBody {
  private static final String SEALED = "sealed";
  private static final String RETIRED = "retired";
  private static final String[] FIELDS =
      Stream.concat(
              Stream.of(
                  "prefix", "key", "generate", "layout", "tag", "client_names", SEALED, RETIRED),
              Policies.DEFAULT.json().keySet().stream())
          .toArray(String[]::new);

  private final RedirectHosts redirectHosts;
  private final InstantSource clock;

  /**
   * Reads by the rules of a gateway.
   *
   * @param redirectHosts where redirects may lead
   * @param clock which epochs a layout of Snowflakes may have
   */
  public TypeBody(RedirectHosts redirectHosts, InstantSource clock) {
    this.redirectHosts = redirectHosts;
    this.clock = clock;
  }

  /**
   * The definition that a JSON merge patch makes of a type. A value that stays is not refused for
   * what has changed around it: the time, and the hosts that are allowed.
   */
  TypeDefinition patched(Type type, JsonObject patch) {
    return definition(type.name(), Optional.of(type), patch.allow(FIELDS).appliedTo(fields(type)));
  }

  /** The fields of a request that puts the type as it is. */
  public static Map<String, @Nullable Object> fields(Type type) {
    return fields(
        new TypeDefinition(
            type.name(),
            type.prefix(),
            type.keyKind(),
            type.generation(),
            type.policies(),
            Optional.of(type.clientNames()),
            type.sealing().map(TypeBody::sealedFrom),
            type.isRetired()));
  }

  /** Those of a definition, with their defaults. */
  public static Map<String, @Nullable Object> fields(TypeDefinition type) {
    KeyGeneration generation = type.generation();
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("prefix", type.prefix().value());
    fields.put("key", type.keyKind().wireName());
    fields.put("generate", generation.wireName());
    fields.put(
        "layout", generation instanceof KeyTimes.Snowflakes keys ? keys.layout().name() : null);
    fields.put("tag", generation instanceof KeyGeneration.Segment keys ? keys.tag() : null);
    fields.putAll(type.policies().json());
    fields.put("client_names", type.clientNames().orElse(ClientNames.DEFAULT).wireName());
    fields.put(
        SEALED,
        type.sealed()
            .map(first -> Map.of("from", first.from(), "seal_key", first.sealKey()))
            .orElse(null));
    fields.put(RETIRED, type.retired());
    return fields;
  }

  private static SealedFrom sealedFrom(Sealing sealing) {
    return new SealedFrom(sealing.from(), sealing.eras().getFirst().fingerprint());
  }

  /** What an answer says beyond {@link #fields}: which seal key seals the keys of which time. */
  static @Nullable List<Map<String, @Nullable Object>> eras(Type type) {
    return type.sealing()
        .map(sealing -> sealing.eras().stream().map(TypeBody::era).toList())
        .orElse(null);
  }

  private static Map<String, @Nullable Object> era(Sealing.Era era) {
    Map<String, @Nullable Object> view = new LinkedHashMap<>();
    view.put("starts_at", era.startsAt().orElse(null));
    view.put("seal_key", era.fingerprint());
    view.put("closed_at", era.closedAt().orElse(null));
    return view;
  }

  /**
   * What a body says about a type.
   *
   * @throws JsonFault for what a type can't be
   */
  public TypeDefinition definition(String name, JsonObject body) {
    return definition(name, Optional.empty(), body);
  }

  /**
   * What a whole body says about a type as it is: as in {@link #patched}, a value that stays is not
   * refused.
   *
   * @param present empty for a new type
   * @throws JsonFault for what a type can't be
   */
  TypeDefinition definition(String name, Optional<Type> present, JsonObject body) {
    return definition(
        name,
        body,
        present.map(redirectHosts::keeping).orElse(redirectHosts),
        present.map(Type::generation));
  }

  private TypeDefinition definition(
      String name, JsonObject body, RedirectHosts hosts, Optional<KeyGeneration> present) {
    if (!Type.isName(name)) {
      throw Refusal.ofParameter(
          "name", "A type's name is a lower-case letter, then up to 62 of a-z, 0-9 and _.");
    }
    body.allow(FIELDS);
    Prefix prefix =
        Prefix.parse(body.string("prefix"))
            .orElseThrow(
                () ->
                    body.invalid(
                        "prefix",
                        "A prefix is 1 to 32 of a-z, 0-9 and _, starts with a letter, and neither"
                            + " ends with _ nor doubles it."));
    KeyKind kind =
        body.constant("key", KeyKind.class)
            .orElseThrow(() -> body.missing("key", "Send what the keys are: bigint or uuid."));
    return new TypeDefinition(
        name,
        prefix,
        kind,
        generation(body, kind, present),
        Policies.read(body, name, kind, hosts),
        body.constant("client_names", ClientNames.class),
        body.optionalObject(SEALED).map(TypeBody::sealed),
        body.bool(RETIRED, false));
  }

  private static SealedFrom sealed(JsonObject body) {
    body.allow("from", "seal_key");
    Instant from =
        body.nullableTime("from")
            .orElseThrow(() -> body.missing("from", "Send the time of the first sealed key."));
    return new SealedFrom(from.truncatedTo(ChronoUnit.MILLIS), sealKey(body));
  }

  /** The fingerprint of a seal key in the field {@code seal_key}. */
  static String sealKey(JsonObject body) {
    String sealKey = body.string("seal_key");
    if (!SealKey.isFingerprint(sealKey)) {
      throw body.invalid(
          "seal_key",
          "Send the fingerprint of the seal key, 16 of 0-9 and a-f; coatcheck types seal-key list"
              + " prints it. Never send the key itself.");
    }
    return sealKey;
  }

  private KeyGeneration generation(JsonObject body, KeyKind kind, Optional<KeyGeneration> present) {
    String generate =
        body.optionalString("generate").orElseGet(() -> KeyGeneration.usual(kind).wireName());
    KeyGeneration generation =
        switch (generate) {
          case KeyGeneration.SNOWFLAKE -> new KeyTimes.Snowflakes(layout(body, present));
          case KeyGeneration.SEGMENT ->
              new KeyGeneration.Segment(
                  body.nullableString("tag")
                      .orElseThrow(
                          () -> body.missing("tag", "Send the tag of the segment of the keys.")));
          case KeyGeneration.UUIDV7 -> new KeyTimes.UuidsV7();
          case KeyGeneration.NONE -> new KeyGeneration.None();
          default ->
              throw body.invalid(
                  "generate", "The generators are snowflake, segment, uuidv7 and none.");
        };
    if (!generation.fits(kind)) {
      throw refused(
          body,
          "generate",
          "A bigint key is generated by snowflake, segment or none, and a uuid key by uuidv7 or"
              + " none.");
    }
    refuseUnlessOf(KeyGeneration.SNOWFLAKE, generate, "layout", body);
    refuseUnlessOf(KeyGeneration.SEGMENT, generate, "tag", body);
    return generation;
  }

  private SnowflakeLayout layout(JsonObject body, Optional<KeyGeneration> present) {
    Optional<String> spelling = body.nullableString("layout");
    return present
        .filter(KeyTimes.Snowflakes.class::isInstance)
        .map(keys -> ((KeyTimes.Snowflakes) keys).layout())
        .filter(layout -> spelling.filter(layout.name()::equals).isPresent())
        .orElseGet(() -> Parameters.layout(body, spelling, clock.instant()));
  }

  private static void refuseUnlessOf(String owner, String generate, String field, JsonObject body) {
    if (!generate.equals(owner) && body.nullableString(field).isPresent()) {
      throw refused(
          body, field, "Only keys generated by " + owner + " have a " + field + ". Leave it out.");
    }
  }

  private static JsonFault refused(JsonObject body, String field, String detail) {
    return body.refused("key_generation_refused", field, detail);
  }
}
