package dev.coatcheck.app.cli;

import dev.coatcheck.app.client.Misused;
import dev.coatcheck.cluster.lease.ClientLeases;
import dev.coatcheck.ids.access.AddressRange;
import dev.coatcheck.ids.access.ApiKeys;
import dev.coatcheck.ids.access.RateLimit;
import dev.coatcheck.ids.access.Rights;
import dev.coatcheck.ids.access.Scope;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The rights of an API key, as flags. What is left out stays as it is. A mixin. */
@Command
final class RightsFlags {
  private static final int VALID_DAYS_MAX = 3_650;

  @Option(
      names = "--type",
      paramLabel = "NAME",
      split = ",",
      description = "Types that the key may use. Default: all.")
  private @Nullable List<String> types;

  @Option(
      names = "--range",
      paramLabel = "CIDR",
      split = ",",
      description = "Addresses or networks that the key may be used from. Default: all.")
  private @Nullable List<String> ranges;

  @Option(
      names = "--limit",
      paramLabel = "REQUESTS/SECONDS",
      description = "How many requests in how many seconds: 1000/1. Default: that of the gateway.")
  private @Nullable String limit;

  @Option(
      names = "--lease-max",
      paramLabel = "N",
      description =
          "How many workers programs with the key may lease at the same time, 0 to 1024. Default:"
              + " 16.")
  private @Nullable Integer leaseMax;

  @Option(
      names = "--expires",
      paramLabel = "TIME",
      description = "When the key expires: 2099-01-01T00:00:00Z. Default: never.")
  private @Nullable Instant expires;

  @Option(
      names = "--valid-days",
      paramLabel = "DAYS",
      description = "Days until the key expires. Default: never.")
  private @Nullable Integer validDays;

  /** The rights with the changes of the flags, but for {@link #expiring}. */
  Rights over(Rights rights, @Nullable List<String> scopes) throws Misused {
    if (validDays != null && expires != null) {
      throw new Misused("send --expires or --valid-days, not both.");
    }
    if (validDays != null && (validDays < 1 || validDays > VALID_DAYS_MAX)) {
      throw new Misused("--valid-days must be 1 to " + VALID_DAYS_MAX + ".");
    }
    return new Rights(
        scopes == null ? rights.scopes() : scopes(scopes),
        types == null ? rights.types() : Optional.of(Set.copyOf(types)),
        ranges == null ? rights.ranges() : Optional.of(ranges(ranges)),
        limit == null ? rights.limit() : Optional.of(limit(limit)),
        leaseMax == null ? rights.leaseMax() : Optional.of(leaseMax(leaseMax)),
        expires == null ? rights.expiresAt() : Optional.of(expires));
  }

  /** Days count from now on by the clock that ends a key, that of Postgres. */
  Rights expiring(Rights rights, ApiKeys keys) {
    return validDays == null
        ? rights
        : rights.expiringAt(Optional.of(keys.now().plus(Duration.ofDays(validDays))));
  }

  /** Refuses to clear what these flags set. */
  void refuseToClear(List<String> cleared) throws Misused {
    Map<String, Optional<String>> set =
        Map.of(
            "types", flag("--type", types),
            "ranges", flag("--range", ranges),
            "limit", flag("--limit", limit),
            "lease-max", flag("--lease-max", leaseMax),
            "expiry", flag("--expires", expires).or(() -> flag("--valid-days", validDays)));
    for (String limit : cleared) {
      Optional<String> flag = set.getOrDefault(limit, Optional.empty());
      if (flag.isPresent()) {
        throw new Misused(
            "--clear "
                + limit
                + " and "
                + flag.get()
                + " contradict each other. Send one of them.");
      }
    }
  }

  private static Optional<String> flag(String name, @Nullable Object value) {
    return Optional.ofNullable(value).map(_ -> name);
  }

  private static int leaseMax(int leaseMax) throws Misused {
    if (leaseMax < 0 || leaseMax > ClientLeases.LEASES_MAX) {
      throw new Misused("--lease-max must be 0 to " + ClientLeases.LEASES_MAX + ".");
    }
    return leaseMax;
  }

  private static Set<AddressRange> ranges(List<String> texts) throws Misused {
    Set<AddressRange> ranges = new LinkedHashSet<>();
    for (String text : texts) {
      ranges.add(
          AddressRange.parseNetwork(text)
              .orElseThrow(
                  () ->
                      new Misused(
                          "--range takes an address, or a network without bits behind it such as 10.0.0.0/8, not %s."
                              .formatted(text))));
    }
    return ranges;
  }

  private static RateLimit limit(String text) throws Misused {
    return RateLimit.parse(text)
        .orElseThrow(
            () ->
                new Misused(
                    "--limit takes 1 to 1000000 requests in 1 to 3600 seconds, such as 1000/1."));
  }

  private static Set<Scope> scopes(List<String> names) throws Misused {
    Set<Scope> scopes = new LinkedHashSet<>();
    for (String name : names) {
      scopes.add(
          Scope.named(name)
              .orElseThrow(
                  () ->
                      new Misused(
                          "no scope has the name %s. The scopes are %s."
                              .formatted(name, String.join(", ", new ScopeNames())))));
    }
    return scopes;
  }

  /** The scopes that a key can have. */
  static final class ScopeNames implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Scope.KNOWN.stream().map(Scope::name).iterator();
    }
  }
}
