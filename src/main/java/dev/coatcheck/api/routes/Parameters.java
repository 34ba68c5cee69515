package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.LayoutParse;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.registry.LegacyNumber;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses names of types, keys and aliases in requests, and refuses malformed ones. */
public final class Parameters {
  private static final String IF_MATCH = "If-Match";
  private static final Pattern ETAG = Pattern.compile("\"([1-9][0-9]{0,8})\"");

  private final Registry registry;

  public Parameters(Registry registry) {
    this.registry = registry;
  }

  /**
   * The version that the header If-Match names; empty without it.
   *
   * @param read what was read before, in words
   */
  public static OptionalInt ifMatch(Context ctx, String read) {
    String sent = ctx.header(IF_MATCH);
    if (sent == null) {
      return OptionalInt.empty();
    }
    Matcher version = ETAG.matcher(sent);
    if (!version.matches()) {
      throw new Refusal(
          ProblemCode.HEADER_INVALID,
          IF_MATCH,
          "Send the ETag that a GET of the " + read + " gave, for instance \"1\".");
    }
    return OptionalInt.of(Integer.parseInt(version.group(1)));
  }

  public Type type(Context ctx, String param) {
    return type(RequestCaller.types(ctx), param, ctx.pathParam(param));
  }

  /**
   * The type with a name.
   *
   * @throws Refusal if the caller may not use the type, whether it exists or not, or no type has
   *     the name
   */
  public Type type(AllowedTypes allowed, String param, String name) {
    requireAllowed(allowed, name);
    return registry.named(name).orElseThrow(() -> new Refusal(typeUnknown(param)));
  }

  /**
   * For what reads rows: all of a type that has them.
   *
   * @throws Refusal if the type is sealed
   */
  public static void requireRows(Type type) {
    if (type.sealing().isPresent()) {
      throw new Refusal(
          ProblemCode.TYPE_SEALED,
          "type",
          "The public IDs of a sealed type are computed, so they can't be listed. Ask for those"
              + " of the keys that you have: POST /v1/ids/lookup.");
    }
  }

  /** For the name of a type that may not exist yet. */
  public static void requireAllowed(AllowedTypes allowed, String name) {
    if (!allowed.hold(name)) {
      throw new Refusal(Problem.typeNotAllowed());
    }
  }

  public static Problem typeUnknown(String param) {
    return Problem.at(
        ProblemCode.TYPE_UNKNOWN,
        param,
        "No type has this name. GET /v1/types lists the types; PUT /v1/types/{name} adds a type.");
  }

  public static Key key(Type type, String param, String text) {
    return type.keyKind().parse(text).orElseThrow(() -> new Refusal(keyMalformed(type, param)));
  }

  public static Problem keyMalformed(Type type, String param) {
    return Problem.at(
        ProblemCode.KEY_MALFORMED,
        param,
        switch (type.keyKind()) {
          case BIGINT -> "A key of this type is a decimal from 0 to 2^63 - 1, as a string.";
          case UUID -> "A key of this type is a UUID in 36 lower-case characters.";
        });
  }

  /** Where keys of the type carry their time, which a parameter asks for. */
  public static KeyTimes keyTimes(Type type, String param) {
    return type.keyTimes()
        .orElseThrow(
            () ->
                Refusal.ofParameter(
                    param,
                    "Keys of this type carry no time: it generates neither Snowflakes nor"
                        + " UUIDv7."));
  }

  /** The key that a mint has to bring if its type generates none. */
  static Problem keyRequired(String param) {
    return Problem.at(
        ProblemCode.KEY_REQUIRED,
        param,
        "This type generates no keys. Send the key, or mint with a type that generates keys.");
  }

  /** The layout of a name or spelling in the field {@code layout}; the default one without it. */
  public static SnowflakeLayout layout(JsonObject body, Optional<String> spelling, Instant now) {
    return switch (SnowflakeLayout.parse(spelling.orElse(SnowflakeLayout.DEFAULT.name()), now)) {
      case LayoutParse.Known(SnowflakeLayout layout) -> layout;
      case LayoutParse.Invalid(String reason) ->
          throw body.invalid("layout", "The layout is refused: " + reason + ".");
    };
  }

  /** Whether a layout has neither a name nor a type: only the request spells it out. */
  public boolean isOnlySpelled(SnowflakeLayout layout) {
    return !SnowflakeLayout.NAMED.contains(layout)
        && !registry.keyLayouts(_ -> true).contains(layout);
  }

  public static JsonFault tooManyLayouts(JsonObject body) {
    return body.invalid(
        "layout",
        "The database has as many layouts as requests may spell out. Send the name of a layout, or"
            + " one that a type has.");
  }

  public static long legacyNumber(String text, String param) {
    return LegacyNumber.parse(text).orElseThrow(() -> new Refusal(legacyMalformed(param)));
  }

  public static Problem legacyMalformed(String param) {
    return Problem.at(ProblemCode.LEGACY_ID_MALFORMED, param, sentence(AliasScheme.LEGACY));
  }

  public static AliasScheme aliasScheme(String text) {
    return WireNamed.find(AliasScheme.class, text)
        .orElseThrow(
            () -> Refusal.ofParameter("scheme", "An alias scheme is legacy, client or public."));
  }

  /** An alias of any scheme except client; {@link ClientIds} reads those. */
  public static Alias alias(Type type, AliasScheme scheme, String param, String value) {
    // Only texts that match the type's pattern are looked up among older public IDs.
    boolean isOlder =
        scheme != AliasScheme.PUBLIC
            || type.publicPattern().filter(pattern -> pattern.matches(value)).isPresent();
    if (!isOlder || !scheme.accepts(value)) {
      throw aliasMalformed(scheme, param);
    }
    return Alias.of(type, scheme, value);
  }

  static Refusal aliasMalformed(AliasScheme scheme, String param) {
    return new Refusal(ProblemCode.ALIAS_MALFORMED, param, sentence(scheme));
  }

  private static String sentence(AliasScheme scheme) {
    return switch (scheme) {
      case LEGACY -> "A legacy ID is a decimal from 1 to 2^63 - 1 without leading zeros.";
      case CLIENT -> "A client ID is a UUID in 36 characters.";
      case PUBLIC ->
          "An older public ID has up to 255 characters and matches the type's public_pattern.";
    };
  }
}
