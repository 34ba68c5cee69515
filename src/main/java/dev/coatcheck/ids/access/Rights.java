package dev.coatcheck.ids.access;

import dev.coatcheck.cluster.lease.ClientLeases;
import java.net.InetAddress;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What an API key allows.
 *
 * @param types names of the types whose public IDs it may use; empty: all, later ones too
 * @param ranges where its requests may come from; empty: anywhere
 * @param limit instead of the default one
 * @param leaseMax how many workers its principal may lease over HTTP, instead of the default
 * @param expiresAt from then on the key is refused; empty: never
 */
public record Rights(
    Set<Scope> scopes,
    Optional<Set<String>> types,
    Optional<Set<AddressRange>> ranges,
    Optional<RateLimit> limit,
    Optional<Integer> leaseMax,
    Optional<Instant> expiresAt) {
  public Rights {
    scopes = Set.copyOf(scopes);
    types = types.map(Set::copyOf);
    ranges = ranges.map(Set::copyOf);
    // As Postgres stores it.
    expiresAt = expiresAt.map(end -> end.truncatedTo(ChronoUnit.MICROS));
  }

  /** For all types, from anywhere, for good. */
  public static Rights of(Set<Scope> scopes) {
    return new Rights(
        scopes,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  public boolean may(Scope scope) {
    return scope.equals(Scope.SELF) || scopes.contains(Scope.ALL) || scopes.contains(scope);
  }

  /** How many workers the principal may lease over HTTP at the same time. */
  public int leasesMax() {
    return leaseMax.orElse(ClientLeases.LEASES_MAX_DEFAULT);
  }

  public AllowedTypes allowedTypes() {
    return types.isEmpty() ? AllowedTypes.ALL : new AllowedTypes(types);
  }

  public boolean mayComeFrom(InetAddress address) {
    return ranges.isEmpty() || ranges.get().stream().anyMatch(range -> range.holds(address));
  }

  /**
   * Whether these are at least the other rights: each scope, type and range of the others is one of
   * these or in one of these, the limit is no higher and the expiry no later. What is empty here
   * covers anything, and what is empty there is covered only by that. A limit and a maximum of
   * leases that are empty are the defaults, except for who may do everything.
   *
   * @param defaultLimit of keys that have none of their own
   * @return the first of the other rights that these don't cover, as requests name it
   */
  Optional<String> firstBeyond(Rights other, Optional<RateLimit> defaultLimit) {
    if (!other.scopes.stream().allMatch(this::may)) {
      return Optional.of("scopes");
    }
    if (types.isPresent() && !other.types.map(types.get()::containsAll).orElse(false)) {
      return Optional.of("types");
    }
    if (ranges.isPresent() && !other.ranges.map(this::coversAll).orElse(false)) {
      return Optional.of("ranges");
    }
    Optional<RateLimit> own = limit.or(() -> may(Scope.ALL) ? Optional.empty() : defaultLimit);
    if (own.isPresent()
        && !other.limit.or(() -> defaultLimit).map(own.get()::covers).orElse(false)) {
      return Optional.of("limit");
    }
    boolean isBound = leaseMax.isPresent() || !may(Scope.ALL);
    if (isBound && other.leasesMax() > leasesMax()) {
      return Optional.of("lease_max");
    }
    if (expiresAt.isPresent()
        && !other.expiresAt.map(end -> !end.isAfter(expiresAt.get())).orElse(false)) {
      return Optional.of("expires_at");
    }
    return Optional.empty();
  }

  /** Each of them in one range of ours; two neighbours don't cover what spans both. */
  private boolean coversAll(Set<AddressRange> others) {
    return others.stream()
        .allMatch(
            other -> ranges.stream().flatMap(Set::stream).anyMatch(range -> range.holds(other)));
  }

  /** The same rights until another end. */
  public Rights expiringAt(Optional<Instant> end) {
    return new Rights(scopes, types, ranges, limit, leaseMax, end);
  }

  /** As answers and the audit show them: lists in order, null where nothing is limited. */
  public Map<String, @Nullable Object> json() {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("scopes", scopes.stream().map(Scope::name).sorted().toList());
    json.put("types", types.map(names -> names.stream().sorted().toList()).orElse(null));
    json.put(
        "ranges",
        ranges.map(all -> all.stream().map(AddressRange::toString).sorted().toList()).orElse(null));
    json.put(
        "limit",
        limit
            .map(rate -> Map.of("requests", rate.requests(), "seconds", rate.seconds()))
            .orElse(null));
    json.put("lease_max", leaseMax.orElse(null));
    json.put("expires_at", expiresAt.map(Instant::toString).orElse(null));
    return json;
  }
}
