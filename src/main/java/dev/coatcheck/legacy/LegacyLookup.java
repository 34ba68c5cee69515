package dev.coatcheck.legacy;

import dev.coatcheck.mapping.AliasScheme;
import dev.coatcheck.mapping.Mapping;
import dev.coatcheck.mapping.ResolveOutcome;
import dev.coatcheck.mapping.Resolver;
import dev.coatcheck.registry.LegacyPolicy;
import dev.coatcheck.registry.Redirect;
import dev.coatcheck.registry.Registry;
import dev.coatcheck.registry.Type;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

/** Finds what an old auto-increment number stands for today. */
public final class LegacyLookup {
  private final Registry registry;
  private final Resolver resolver;
  private final InstantSource clock;

  public LegacyLookup(Registry registry, Resolver resolver, InstantSource clock) {
    this.registry = registry;
    this.resolver = resolver;
    this.clock = clock;
  }

  /**
   * For callers with an API key: whatever the type's policy says.
   *
   * @throws dev.coatcheck.db.DatabaseUnavailable if Postgres can't be asked
   */
  public ResolveOutcome find(Type type, long number) {
    return resolver.resolveAlias(type, AliasScheme.LEGACY, Long.toString(number));
  }

  /**
   * For anyone, as far as the type's policy goes. What the policy decides takes no database.
   *
   * @param typeName any text
   * @throws dev.coatcheck.db.DatabaseUnavailable if Postgres has to be asked and can't be
   */
  public LegacyOutcome follow(String typeName, long number) {
    return named(typeName)
        .flatMap(LegacyLookup::opening)
        .map(opening -> follow(opening, number))
        .orElseGet(LegacyOutcome.NotFound::new);
  }

  /** A type whose numbers lead somewhere in public, or did. */
  private record Opening(Type type, LegacyPolicy policy, Redirect redirect) {
    LegacyOutcome.Notice notice() {
      return new LegacyOutcome.Notice(policy.deprecatedAt(), policy.sunsetAt());
    }
  }

  private Optional<Type> named(String typeName) {
    return Type.isName(typeName) ? registry.named(typeName) : Optional.empty();
  }

  private static Optional<Opening> opening(Type type) {
    Optional<LegacyPolicy> policy = type.legacy().filter(LegacyPolicy::isPublic);
    Optional<Redirect> redirect = type.redirect().filter(Redirect::isPublic);
    return policy.flatMap(legacy -> redirect.map(to -> new Opening(type, legacy, to)));
  }

  private LegacyOutcome follow(Opening opening, long number) {
    Instant now = clock.instant();
    if (opening.policy().isOver(now)) {
      return new LegacyOutcome.Over(opening.notice());
    }
    if (opening.policy().maxId().isPresent() && number > opening.policy().maxId().getAsLong()) {
      return new LegacyOutcome.NotFound();
    }
    return switch (find(opening.type(), number)) {
      case ResolveOutcome.Found(Mapping mapping) -> to(opening, mapping, now);
      case ResolveOutcome.Merged merged -> to(opening, merged.survivor(), now);
      case ResolveOutcome.Revoked _ -> new LegacyOutcome.Gone();
      case ResolveOutcome.Unknown _, ResolveOutcome.Malformed _ -> new LegacyOutcome.NotFound();
    };
  }

  private static LegacyOutcome to(Opening opening, Mapping mapping, Instant now) {
    return new LegacyOutcome.To(
        opening.redirect().template().fill(mapping.publicId(), mapping.key()),
        opening.policy().status(),
        maxAgeSeconds(opening.policy(), now),
        opening.notice());
  }

  private static int maxAgeSeconds(LegacyPolicy policy, Instant now) {
    return policy
        .sunsetAt()
        .map(sunset -> Duration.between(now, sunset).toSeconds())
        .map(left -> (int) Math.min(left, policy.maxAgeSeconds()))
        .orElse(policy.maxAgeSeconds());
  }
}
