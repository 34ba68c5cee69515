package dev.coatcheck.ids.redirect;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.registry.LegacyPolicy;
import dev.coatcheck.ids.registry.Redirect;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

/** Redirects a legacy ID like its public ID, within the policy of the type. */
public final class LegacyRedirector {
  private final Registry registry;
  private final LegacyLookup lookup;
  private final ScanGuard guard;
  private final Observer observer;
  private final InstantSource clock;

  LegacyRedirector(
      Registry registry,
      LegacyLookup lookup,
      ScanGuard guard,
      Observer observer,
      InstantSource clock) {
    this.registry = registry;
    this.lookup = lookup;
    this.guard = guard;
    this.observer = observer;
    this.clock = clock;
  }

  /**
   * Where a number leads. What the policy decides takes no database, and neither does a refusal.
   *
   * @param typeName any text
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres has to be asked and can't be
   */
  public LegacyOutcome follow(String typeName, long number, Visitor visitor) {
    int refusedSeconds = guard.refusedSeconds(visitor);
    if (refusedSeconds > 0) {
      return new LegacyOutcome.Scanning(refusedSeconds);
    }
    LegacyOutcome outcome =
        registry
            .named(typeName)
            .flatMap(LegacyRedirector::opening)
            .map(opening -> follow(opening, number, visitor))
            .orElseGet(LegacyOutcome.NotFound::new);
    if (outcome instanceof LegacyOutcome.NotFound) {
      guard.missed(visitor);
    }
    return outcome;
  }

  /** A type whose numbers lead somewhere in public, or did. */
  private record Opening(Type type, LegacyPolicy policy, Redirect redirect) {
    LegacyOutcome.Notice notice() {
      return new LegacyOutcome.Notice(policy.deprecatedAt(), policy.sunsetAt());
    }
  }

  private static Optional<Opening> opening(Type type) {
    Optional<LegacyPolicy> policy = type.legacy().filter(LegacyPolicy::isPublic);
    Optional<Redirect> redirect = type.redirect().filter(Redirect::isPublic);
    return policy.flatMap(legacy -> redirect.map(to -> new Opening(type, legacy, to)));
  }

  private LegacyOutcome follow(Opening opening, long number, Visitor visitor) {
    Instant now = clock.instant();
    if (opening.policy().isOver(now)) {
      observer.observe(new Event.LegacyAnswered(opening.type().name(), "over"));
      return new LegacyOutcome.Over(opening.notice());
    }
    int refusedSeconds = guard.asked(visitor, opening.type().number(), number);
    if (refusedSeconds > 0) {
      observer.observe(new Event.ScanStopped(opening.type().name()));
      return new LegacyOutcome.Scanning(refusedSeconds);
    }
    if (opening.policy().maxId().isPresent()
        && number > opening.policy().maxId().getAsLong()
        && !lookup.isGrowing(opening.type())) {
      return new LegacyOutcome.NotFound();
    }
    return switch (lookup.find(opening.type(), number)) {
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
