package dev.coatcheck.ids.access;

import java.net.InetAddress;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * What an API key allows.
 *
 * @param types names of the types whose public IDs it may use; empty: all, later ones too
 * @param ranges where its requests may come from; empty: anywhere
 * @param limit instead of the default one
 * @param expiresAt from then on the key is refused; empty: never
 */
public record Rights(
    Set<Scope> scopes,
    Optional<Set<String>> types,
    Optional<Set<AddressRange>> ranges,
    Optional<RateLimit> limit,
    Optional<Instant> expiresAt) {
  public Rights {
    scopes = Set.copyOf(scopes);
    types = types.map(Set::copyOf);
    ranges = ranges.map(Set::copyOf);
  }

  /** For all types, from anywhere, for good. */
  public static Rights of(Set<Scope> scopes) {
    return new Rights(
        scopes, Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
  }

  public boolean may(Scope scope) {
    return scopes.contains(Scope.ALL) || scopes.contains(scope);
  }

  public AllowedTypes allowedTypes() {
    return types.isEmpty() ? AllowedTypes.ALL : new AllowedTypes(types);
  }

  public boolean mayComeFrom(InetAddress address) {
    return ranges.isEmpty() || ranges.get().stream().anyMatch(range -> range.holds(address));
  }
}
