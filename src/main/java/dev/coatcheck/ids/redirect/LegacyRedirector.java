package dev.coatcheck.ids.redirect;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.registry.LegacyNumber;
import dev.coatcheck.ids.registry.LegacyPolicy;
import dev.coatcheck.ids.registry.Redirect;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Redirects legacy IDs, and public IDs of older systems that a rule decodes, like public IDs of
 * ours, within the policy of the type.
 */
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
    return follow(
        visitor,
        () ->
            registry.named(typeName).flatMap(type -> Opening.ofLinks(new LegacyId(type, number))));
  }

  /**
   * Where a text leads: a number, or an older public ID that the rule of the type decodes.
   *
   * @param typeName any text
   * @return empty if the text is neither, or both at once: an ambiguous text is refused
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres has to be asked and can't be
   */
  public Optional<LegacyOutcome> follow(String typeName, String text, Visitor visitor) {
    OptionalLong number = LegacyNumber.parse(text);
    Optional<OlderId> decoded =
        OlderId.decoded(
            text, registry, type -> type.name().equals(typeName) && hasPublicLinks(type));
    if (decoded.isPresent()) {
      return number.isPresent() ? Optional.empty() : Optional.of(follow(decoded.get(), visitor));
    }
    return number.isPresent()
        ? Optional.of(follow(typeName, number.getAsLong(), visitor))
        : Optional.empty();
  }

  /**
   * Where a text leads that the rule of a type decodes; empty if none does. Only rules of types
   * whose legacy IDs are public are asked, so that an outsider learns nothing about the others.
   *
   * @param visitor asked for only if a rule decodes the text
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres has to be asked and can't be
   */
  Optional<LegacyOutcome> follow(String text, Supplier<Visitor> visitor) {
    return OlderId.decoded(text, registry, LegacyRedirector::hasPublicLinks)
        .map(id -> follow(id, visitor.get()));
  }

  private LegacyOutcome follow(OlderId id, Visitor visitor) {
    return follow(visitor, () -> Opening.ofLinks(id));
  }

  private static boolean hasPublicLinks(Type type) {
    return type.redirect().filter(Redirect::isPublic).isPresent()
        && type.legacy().filter(LegacyPolicy::isPublic).isPresent();
  }

  /**
   * The public ID that a visitor is to put in the place of a legacy ID in a URL. All is as in
   * {@link #follow}, except that the type needs no redirect.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres has to be asked and can't be
   */
  public LegacyOutcome replace(OlderId id, Visitor visitor) {
    return follow(visitor, () -> Opening.ofUrls(id));
  }

  private LegacyOutcome follow(Visitor visitor, Supplier<Optional<Opening>> opening) {
    int refusedSeconds = guard.refusedSeconds(visitor);
    if (refusedSeconds > 0) {
      return new LegacyOutcome.Scanning(refusedSeconds);
    }
    LegacyOutcome outcome =
        opening.get().map(found -> follow(found, visitor)).orElseGet(LegacyOutcome.NotFound::new);
    if (outcome instanceof LegacyOutcome.NotFound) {
      guard.missed(visitor);
    }
    return outcome;
  }

  /**
   * Why a legacy ID is refused to every client without an API key; never asks Postgres. Empty if it
   * has to be looked up.
   */
  public Optional<LegacyOutcome.Refused> refusal(OlderId id) {
    return id.type().legacy().flatMap(policy -> refusal(id, policy));
  }

  /** What those who have no API key are told about the end of a type's numbers. */
  public static LegacyOutcome.Notice notice(Type type) {
    return type.legacy().map(LegacyRedirector::notice).orElse(LegacyOutcome.Notice.NONE);
  }

  private static LegacyOutcome.Notice notice(LegacyPolicy policy) {
    return new LegacyOutcome.Notice(policy.deprecatedAt(), policy.sunsetAt());
  }

  /** A type whose numbers lead somewhere in public, or did. */
  private record Opening(OlderId id, LegacyPolicy policy, Function<Mapping, String> target) {

    static Optional<Opening> ofLinks(OlderId id) {
      return id.type()
          .redirect()
          .filter(Redirect::isPublic)
          .flatMap(
              redirect ->
                  of(id, mapping -> redirect.template().fill(mapping.publicId(), mapping.key())));
    }

    /** A type whose links are private has no public URLs either. */
    static Optional<Opening> ofUrls(OlderId id) {
      return id.type().redirect().stream().allMatch(Redirect::isPublic)
          ? of(id, mapping -> mapping.publicId().toString())
          : Optional.empty();
    }

    private static Optional<Opening> of(OlderId id, Function<Mapping, String> target) {
      return id.type()
          .legacy()
          .filter(LegacyPolicy::isPublic)
          .map(policy -> new Opening(id, policy, target));
    }
  }

  private LegacyOutcome follow(Opening opening, Visitor visitor) {
    LegacyPolicy policy = opening.policy();
    Type type = opening.id().type();
    Instant now = clock.instant();
    Optional<LegacyOutcome.Refused> over = over(type, policy, now);
    if (over.isPresent()) {
      return over.get();
    }
    int refusedSeconds = refusedSeconds(opening.id(), visitor);
    if (refusedSeconds > 0) {
      observer.observe(new Event.ScanStopped(type.name()));
      return new LegacyOutcome.Scanning(refusedSeconds);
    }
    if (isTooHigh(opening.id(), policy)) {
      return new LegacyOutcome.NotFound();
    }
    return switch (lookup.find(opening.id())) {
      case ResolveOutcome.Found(Mapping mapping) -> to(opening, mapping, now);
      case ResolveOutcome.Merged merged -> to(opening, merged.survivor(), now);
      case ResolveOutcome.Revoked _ -> new LegacyOutcome.Gone();
      case ResolveOutcome.Unknown _, ResolveOutcome.Malformed _ -> new LegacyOutcome.NotFound();
    };
  }

  /** Keys can't be gone through one by one. */
  private int refusedSeconds(OlderId id, Visitor visitor) {
    return switch (id) {
      case LegacyId(Type type, long number) -> guard.asked(visitor, type.number(), number);
      case OlderId.OfKey _ -> 0;
    };
  }

  private Optional<LegacyOutcome.Refused> refusal(OlderId id, LegacyPolicy policy) {
    Optional<LegacyOutcome.Refused> over = over(id.type(), policy, clock.instant());
    return over.isEmpty() && isTooHigh(id, policy)
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

  private boolean isTooHigh(OlderId id, LegacyPolicy policy) {
    return id instanceof LegacyId(Type type, long number)
        && policy.maxId().isPresent()
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
