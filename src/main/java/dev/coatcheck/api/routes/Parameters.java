package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.JsonObject;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.core.key.LayoutParse;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.registry.LegacyNumber;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import java.time.Instant;

/** Parses names of types, keys and aliases in requests, and refuses malformed ones. */
public final class Parameters {
  private final Registry registry;

  public Parameters(Registry registry) {
    this.registry = registry;
  }

  public Type type(Context ctx, String param) {
    return type(param, ctx.pathParam(param));
  }

  public Type type(String param, String name) {
    return registry.named(name).orElseThrow(() -> new Refusal(typeUnknown(param)));
  }

  public static Problem typeUnknown(String param) {
    return Problem.at(
        ProblemCode.TYPE_UNKNOWN,
        param,
        "No type has this name. GET /v1/types lists the types; PUT /v1/types/{name} adds a type.");
  }

  static Key key(Type type, String param, String text) {
    return type.keyScheme().parse(text).orElseThrow(() -> new Refusal(keyMalformed(type, param)));
  }

  public static Problem keyMalformed(Type type, String param) {
    return Problem.at(
        ProblemCode.KEY_MALFORMED,
        param,
        switch (type.keyScheme()) {
          case SNOWFLAKE -> "A key of this type is a decimal from 0 to 2^63 - 1, as a string.";
          case UUIDV7 -> "A key of this type is a UUID in 36 lower-case characters.";
        });
  }

  /** The layout of a name or spelling in a body; the default layout if the field is missing. */
  public static SnowflakeLayout layout(
      JsonObject body, String field, KeyScheme scheme, Instant now) {
    String spelling = body.optionalString(field).orElse(SnowflakeLayout.DEFAULT.name());
    if (scheme != KeyScheme.SNOWFLAKE && !spelling.equals(SnowflakeLayout.DEFAULT.name())) {
      throw body.invalid(field, "Only Snowflake keys have layouts. Leave layout out.");
    }
    return switch (SnowflakeLayout.parse(spelling, now)) {
      case LayoutParse.Known(SnowflakeLayout layout) -> layout;
      case LayoutParse.Invalid(String reason) ->
          throw body.invalid(field, "The layout is refused: " + reason + ".");
    };
  }

  public static long legacyNumber(String text, String param) {
    return LegacyNumber.parse(text).orElseThrow(() -> new Refusal(legacyMalformed(param)));
  }

  public static Problem legacyMalformed(String param) {
    return Problem.at(ProblemCode.LEGACY_ID_MALFORMED, param, sentence(AliasScheme.LEGACY));
  }

  /** An alias of any scheme except client; {@link ClientIds} reads those. */
  static Alias alias(Type type, AliasScheme scheme, String param, String value) {
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
      case KEY -> "A key is a decimal or a UUID.";
    };
  }
}
