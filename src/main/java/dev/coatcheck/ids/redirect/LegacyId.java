package dev.coatcheck.ids.redirect;

import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.registry.Type;

/**
 * A legacy ID, whether or not it was ever given.
 *
 * @param number at least 1
 */
public record LegacyId(Type type, long number) implements OlderId {
  Alias alias() {
    return Alias.of(type, AliasScheme.LEGACY, Long.toString(number));
  }
}
