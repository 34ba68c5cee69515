package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.ParsedId.Reason;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Decides what kind of ID a text is. Our own public IDs are recognized by their prefix and check
 * characters. Any other text is tried against the rules and patterns of older systems; at most one
 * fits, because their texts don't overlap.
 */
public final class IdParser {
  private static final IdText.Unissued NOT_ALLOWED =
      new IdText.Unissued(new ResolveOutcome.NotAllowed());

  private final Registry registry;

  public IdParser(Registry registry) {
    this.registry = registry;
  }

  /** Parses a text for a caller who may use these types: every other text is not allowed. */
  public IdText parse(String text, AllowedTypes allowed) {
    IdText parsed = parse(text, allowed::hold, allowed::hold);
    return isOutside(text, parsed, allowed) ? NOT_ALLOWED : parsed;
  }

  /** As {@link #parse(String, AllowedTypes)}, by everything but the rules of older systems. */
  IdText.OfRow parseOfRow(String text, AllowedTypes allowed) {
    IdText.OfRow parsed = parseOfRow(text, allowed::hold);
    return isOutside(text, parsed, allowed) ? NOT_ALLOWED : parsed;
  }

  /** A typo after the prefix of an allowed type is told to the caller, like to every other. */
  private boolean isOutside(String text, IdText parsed, AllowedTypes allowed) {
    return !allowed.areAll()
        && parsed instanceof IdText.Unissued(ResolveOutcome.Malformed(Reason reason, int _))
        && !((reason == Reason.CHECK || reason == Reason.OVERFLOW)
            && registry
                .withPrefix(new Prefix(text.substring(0, text.lastIndexOf('_'))))
                .filter(allowed::hold)
                .isPresent());
  }

  /**
   * Parses a text. Texts of types that don't pass are treated like malformed ones.
   *
   * @param types whose public IDs and patterns count
   * @param ruled whose rules count
   */
  public IdText parse(String text, Predicate<Type> types, Predicate<Type> ruled) {
    for (Type type : registry.withOlderSystem()) {
      Optional<OlderId> decoded = ruled.test(type) ? OlderId.decoded(text, type) : Optional.empty();
      if (decoded.isPresent()) {
        return new IdText.OfRule(decoded.get());
      }
    }
    return parseOfRow(text, types);
  }

  /** Parses a text by everything but the rules of older systems. */
  IdText.OfRow parseOfRow(String text, Predicate<Type> types) {
    return switch (PublicId.parse(text)) {
      case ParsedId.Valid(PublicId id) ->
          registry
              .withPrefix(id.prefix())
              .filter(types)
              .<IdText.OfRow>map(type -> new IdText.OfToken(type, id.token()))
              .orElseGet(
                  () -> ofPattern(text, new ResolveOutcome.Malformed(Reason.PREFIX, 0), types));
      case ParsedId.Malformed(Reason reason, int position) ->
          ofPattern(text, new ResolveOutcome.Malformed(reason, position), types);
    };
  }

  /** The aliases that the text may be: one for each type whose pattern describes it. */
  private IdText.OfRow ofPattern(
      String text, ResolveOutcome.Malformed otherwise, Predicate<Type> types) {
    Map<Alias, Type> aliases = new LinkedHashMap<>();
    if (!registry.withOlderSystem().isEmpty() && AliasScheme.PUBLIC.accepts(text)) {
      for (Type type : registry.withOlderSystem()) {
        if (types.test(type)
            && type.publicPattern().filter(pattern -> pattern.matches(text)).isPresent()) {
          aliases.put(Alias.of(type, AliasScheme.PUBLIC, text), type);
        }
      }
    }
    return aliases.isEmpty() ? new IdText.Unissued(otherwise) : new IdText.OfPattern(aliases);
  }
}
