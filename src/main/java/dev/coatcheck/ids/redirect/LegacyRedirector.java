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
import java.util.function.Function;
import java.util.function.Supplier;

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
    return follow(number, visitor, () -> registry.named(typeName).flatMap(Opening::ofLinks));
  }

  /**
   * The public ID that a visitor is to put in the place of a legacy ID in a URL. All is as in
   * {@link #follow}, except that the type needs no redirect.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres has to be asked and can't be
   */
  public LegacyOutcome replace(LegacyId id, Visitor visitor) {
    return follow(id.number(), visitor, () -> Opening.ofUrls(id.type()));
  }

  private LegacyOutcome follow(long number, Visitor visitor, Supplier<Optional<Opening>> opening) {
    int refusedSeconds = guard.refusedSeconds(visitor);
    if (refusedSeconds > 0) {
      return new LegacyOutcome.Scanning(refusedSeconds);
    }
    LegacyOutcome outcome =
        opening
            .get()
            .map(found -> follow(found, number, visitor))
            .orElseGet(LegacyOutcome.NotFound::new);
    if (outcome instanceof LegacyOutcome.NotFound) {
      guard.missed(visitor);
    }
    return outcome;
  }

  /**
   * Why a legacy ID is refused to every client without an API key; never asks Postgres. Empty if it
   * has to be looked up.
   */
  public Optional<LegacyOutcome.Refused> refusal(LegacyId id) {
    return id.type().legacy().flatMap(policy -> refusal(id.type(), policy, id.number()));
  }

  /** What those who have no API key are told about the end of a type's numbers. */
  public static LegacyOutcome.Notice notice(Type type) {
    return type.legacy().map(LegacyRedirector::notice).orElse(LegacyOutcome.Notice.NONE);
  }

  private static LegacyOutcome.Notice notice(LegacyPolicy policy) {
    return new LegacyOutcome.Notice(policy.deprecatedAt(), policy.sunsetAt());
  }

  /** A type whose numbers lead somewhere in public, or did. */
  private record Opening(Type type, LegacyPolicy policy, Function<Mapping, String> target) {

    static Optional<Opening> ofLinks(Type type) {
      return type.redirect()
          .filter(Redirect::isPublic)
          .flatMap(
              redirect ->
                  of(type, mapping -> redirect.template().fill(mapping.publicId(), mapping.key())));
    }

    /** A type whose links are private has no public URLs either. */
    static Optional<Opening> ofUrls(Type type) {
      return type.redirect().stream().allMatch(Redirect::isPublic)
          ? of(type, mapping -> mapping.publicId().toString())
          : Optional.empty();
    }

    private static Optional<Opening> of(Type type, Function<Mapping, String> target) {
      return type.legacy()
          .filter(LegacyPolicy::isPublic)
          .map(policy -> new Opening(type, policy, target));
    }
  }

  private LegacyOutcome follow(Opening opening, long number, Visitor visitor) {
    LegacyPolicy policy = opening.policy();
    Instant now = clock.instant();
    Optional<LegacyOutcome.Refused> over = over(opening.type(), policy, now);
    if (over.isPresent()) {
      return over.get();
    }
    int refusedSeconds = guard.asked(visitor, opening.type().number(), number);
    if (refusedSeconds > 0) {
      observer.observe(new Event.ScanStopped(opening.type().name()));
      return new LegacyOutcome.Scanning(refusedSeconds);
    }
    if (isTooHigh(opening.type(), policy, number)) {
      return new LegacyOutcome.NotFound();
    }
    return switch (lookup.find(opening.type(), number)) {
      case ResolveOutcome.Found(Mapping mapping) -> to(opening, mapping, now);
      case ResolveOutcome.Merged merged -> to(opening, merged.survivor(), now);
      case ResolveOutcome.Revoked _ -> new LegacyOutcome.Gone();
      case ResolveOutcome.Unknown _, ResolveOutcome.Malformed _ -> new LegacyOutcome.NotFound();
    };
  }

  private Optional<LegacyOutcome.Refused> refusal(Type type, LegacyPolicy policy, long number) {
    Optional<LegacyOutcome.Refused> over = over(type, policy, clock.instant());
    return over.isEmpty() && isTooHigh(type, policy, number)
        ? Optional.of(new LegacyOutcome.NotFound())
        : over;
  }

  private Optional<LegacyOutcome.Refused> over(Type type, LegacyPolicy policy, Instant now) {
    if (!policy.isOver(now)) {
      return Optional.empty();
    }
    observer.observe(new Event.LegacyAnswered(type.name(), "over"));
    return Optional.of(new LegacyOutcome.Over(notice(policy)));
  }

  private boolean isTooHigh(Type type, LegacyPolicy policy, long number) {
    return policy.maxId().isPresent()
        && number > policy.maxId().getAsLong()
        && !lookup.isGrowing(type);
  }

  private static LegacyOutcome to(Opening opening, Mapping mapping, Instant now) {
    return new LegacyOutcome.To(
        opening.target().apply(mapping),
        opening.policy().status(),
        maxAgeSeconds(opening.policy(), now),
        notice(opening.policy()));
  }

  private static int maxAgeSeconds(LegacyPolicy policy, Instant now) {
    return policy
        .sunsetAt()
        .map(sunset -> Duration.between(now, sunset).toSeconds())
        .map(left -> (int) Math.min(left, policy.maxAgeSeconds()))
        .orElse(policy.maxAgeSeconds());
  }
}
