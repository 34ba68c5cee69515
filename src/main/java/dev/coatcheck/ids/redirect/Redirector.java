package dev.coatcheck.ids.redirect;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.mapping.IdParser;
import dev.coatcheck.ids.mapping.IdText;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.OlderId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.registry.DeadLink;
import dev.coatcheck.ids.registry.LegacyNumber;
import dev.coatcheck.ids.registry.LegacyPolicy;
import dev.coatcheck.ids.registry.Redirect;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Redirects public IDs by the template of their type, and legacy IDs within its legacy policy. A
 * public ID of an older system that a rule decodes is treated as the legacy ID or key that it
 * carries.
 *
 * <p>Each verb throws {@link dev.coatcheck.postgres.sql.DatabaseUnavailable} if Postgres has to be
 * asked and can't be. What the policy decides alone, and a refusal, needs no database.
 */
public final class Redirector {
  private final Registry registry;
  private final IdParser parser;
  private final Resolver resolver;
  private final IdResolver ids;
  private final ScanGuard guard = new ScanGuard(System::nanoTime);
  private final RedirectHosts hosts;
  private final Consumer<Event> events;
  private final InstantSource clock;
  private final AllowedTypes allowed;

  /**
   * Redirects to listed hosts only; a type may have been registered under another list.
   *
   * @param hosts that the operator lists
   * @param events takes what is to be observed
   * @param allowed the types whose links are known
   */
  public Redirector(
      Registry registry,
      IdParser parser,
      Resolver resolver,
      IdResolver ids,
      RedirectHosts hosts,
      Consumer<Event> events,
      InstantSource clock,
      AllowedTypes allowed) {
    this.registry = registry;
    this.parser = parser;
    this.resolver = resolver;
    this.ids = ids;
    this.hosts = hosts;
    this.events = events;
    this.clock = clock;
    this.allowed = allowed;
  }

  /**
   * The same, for one trial: it counts neither legacy hits nor their callers, and the visitor has
   * asked for nothing before. Links of other types are unknown.
   */
  public Redirector uncounted(AllowedTypes allowed) {
    return new Redirector(
        registry, parser, resolver, ids.uncounted(), hosts, _ -> {}, clock, allowed);
  }

  /**
   * The target of a public ID. A text of a type without public links is treated like a random one:
   * it is neither decoded, looked up nor counted.
   *
   * @param caller read only if a rule decodes the text
   */
  public RedirectOutcome redirect(String text, LegacyCaller caller) {
    return switch (parser.parse(
        text, type -> publicRedirect(type).isPresent(), this::hasPublicLinks)) {
      case IdText.OfRule(OlderId id) -> follow(caller, () -> ofLinks(id));
      case IdText.OfRow row -> outcome(resolver.resolve(row));
    };
  }

  /**
   * The target of a legacy ID: a number, or an older public ID that the rule of the type decodes.
   *
   * @param typeName any text
   * @return empty if the text is neither, or both at once: an ambiguous text is refused
   */
  public Optional<RedirectOutcome> follow(String typeName, String text, LegacyCaller caller) {
    OptionalLong number = LegacyNumber.parse(text);
    Optional<OlderId> decoded =
        registry.withOlderSystem().stream()
            .filter(type -> type.name().equals(typeName) && hasPublicLinks(type))
            .findFirst()
            .flatMap(type -> OlderId.decoded(text, type));
    if (number.isPresent() == decoded.isPresent()) {
      return Optional.empty();
    }
    return Optional.of(
        follow(
            caller,
            () ->
                decoded
                    .or(
                        () ->
                            registry
                                .named(typeName)
                                .map(type -> new OlderId.LegacyId(type, number.getAsLong())))
                    .flatMap(this::ofLinks)));
  }

  /**
   * The public ID that replaces a legacy ID in the URL of a visitor. As {@link #follow}, but the
   * type needs no redirect.
   */
  public RedirectOutcome replace(OlderId id, LegacyCaller caller) {
    return follow(caller, () -> ofUrls(id));
  }

  /**
   * Why a legacy ID is refused to every client without an API key; never asks Postgres. Empty if it
   * has to be looked up.
   */
  public Optional<RedirectOutcome.Refused> refusal(OlderId id) {
    return id.type().legacy().flatMap(policy -> refusal(id, policy, clock.instant()));
  }

  /** What clients without an API key are told about the end of a type's legacy IDs. */
  public static RedirectOutcome.Notice notice(Type type) {
    return type.legacy().map(RedirectOutcome.Notice::of).orElse(RedirectOutcome.Notice.NONE);
  }

  private Optional<Redirect> publicRedirect(Type type) {
    return type.redirect()
        .filter(_ -> allowed.hold(type))
        .filter(redirect -> redirect.isPublic() && redirect.template().isAllowed(hosts));
  }

  private DeadLink deadLink(Type type) {
    return type.deadLink().within(hosts);
  }

  private boolean hasPublicLinks(Type type) {
    return publicRedirect(type).isPresent()
        && type.legacy().filter(LegacyPolicy::isPublic).isPresent();
  }

  private RedirectOutcome outcome(ResolveOutcome resolved) {
    return switch (resolved) {
      case ResolveOutcome.Found(Mapping mapping) -> to(mapping);
      case ResolveOutcome.Merged merged -> to(merged.survivor());
      case ResolveOutcome.Revoked revoked -> gone(revoked.mapping().type());
      case ResolveOutcome.Erased(Type type) -> gone(type);
      case ResolveOutcome.Unissued _ -> new RedirectOutcome.NotFound();
    };
  }

  private RedirectOutcome gone(Type type) {
    return publicRedirect(type).isPresent()
        ? new RedirectOutcome.Gone(deadLink(type))
        : new RedirectOutcome.NotFound();
  }

  private RedirectOutcome to(Mapping mapping) {
    return publicRedirect(mapping.type())
        .<RedirectOutcome>map(
            redirect ->
                new RedirectOutcome.To(
                    redirect.template().fill(mapping.publicId(), mapping.key()),
                    redirect.status(),
                    redirect.maxAgeSeconds(),
                    Optional.empty()))
        .orElseGet(RedirectOutcome.NotFound::new);
  }

  /** A legacy ID of a type whose legacy IDs are or were public. */
  private record Opening(OlderId id, LegacyPolicy policy, Function<Mapping, String> target) {
    static Optional<Opening> of(OlderId id, Function<Mapping, String> target) {
      return id.type()
          .legacy()
          .filter(LegacyPolicy::isPublic)
          .map(policy -> new Opening(id, policy, target));
    }
  }

  private Optional<Opening> ofLinks(OlderId id) {
    return publicRedirect(id.type())
        .flatMap(
            redirect ->
                Opening.of(
                    id, mapping -> redirect.template().fill(mapping.publicId(), mapping.key())));
  }

  /** A type whose links are private has no public URLs either. */
  private static Optional<Opening> ofUrls(OlderId id) {
    return id.type().redirect().stream().allMatch(Redirect::isPublic)
        ? Opening.of(id, mapping -> mapping.publicId().toString())
        : Optional.empty();
  }

  private RedirectOutcome follow(LegacyCaller caller, Supplier<Optional<Opening>> opening) {
    Visitor visitor = caller.visitor().get();
    int refusedSeconds = guard.refusedSeconds(visitor);
    if (refusedSeconds > 0) {
      return new RedirectOutcome.Scanning(refusedSeconds);
    }
    RedirectOutcome outcome =
        opening
            .get()
            .map(found -> follow(found, visitor, caller))
            .orElseGet(RedirectOutcome.NotFound::new);
    if (outcome instanceof RedirectOutcome.NotFound) {
      guard.missed(visitor);
    }
    return outcome;
  }

  private RedirectOutcome follow(Opening opening, Visitor visitor, LegacyCaller caller) {
    LegacyPolicy policy = opening.policy();
    Instant now = clock.instant();
    Optional<RedirectOutcome.Refused> over = over(opening.id().type(), policy, now);
    if (over.isPresent()) {
      return over.get();
    }
    int refusedSeconds = refusedSeconds(opening.id(), visitor);
    if (refusedSeconds > 0) {
      events.accept(new Event.ScanStopped(opening.id().type().name()));
      return new RedirectOutcome.Scanning(refusedSeconds);
    }
    if (isTooHigh(opening.id(), policy)) {
      return new RedirectOutcome.NotFound();
    }
    return switch (ids.find(opening.id(), caller)) {
      case LegacyPaused paused -> paused;
      // The look-up may have taken long, and nothing may be cached beyond the sunset.
      case IdOutcome.Resolved(ResolveOutcome outcome) -> outcome(opening, outcome, clock.instant());
    };
  }

  private RedirectOutcome outcome(Opening opening, ResolveOutcome resolved, Instant now) {
    return switch (resolved) {
      case ResolveOutcome.Found(Mapping mapping) -> to(opening, mapping, now);
      case ResolveOutcome.Merged merged -> to(opening, merged.survivor(), now);
      case ResolveOutcome.Revoked _, ResolveOutcome.Erased _ ->
          new RedirectOutcome.Gone(deadLink(opening.id().type()));
      case ResolveOutcome.Unissued _ -> new RedirectOutcome.NotFound();
    };
  }

  /** Keys can't be scanned one by one. */
  private int refusedSeconds(OlderId id, Visitor visitor) {
    return switch (id) {
      case OlderId.LegacyId(Type type, long number) -> guard.asked(visitor, type.number(), number);
      case OlderId.OfKey _ -> 0;
    };
  }

  private Optional<RedirectOutcome.Refused> refusal(OlderId id, LegacyPolicy policy, Instant now) {
    Optional<RedirectOutcome.Refused> over = over(id.type(), policy, now);
    return over.isEmpty() && isTooHigh(id, policy)
        ? Optional.of(new RedirectOutcome.NotFound())
        : over;
  }

  private Optional<RedirectOutcome.Refused> over(Type type, LegacyPolicy policy, Instant now) {
    if (!policy.isOver(now)) {
      return Optional.empty();
    }
    events.accept(new Event.LegacyAnswered(type.name(), "over"));
    return Optional.of(new RedirectOutcome.Over(RedirectOutcome.Notice.of(policy), deadLink(type)));
  }

  private boolean isTooHigh(OlderId id, LegacyPolicy policy) {
    return id instanceof OlderId.LegacyId(Type type, long number)
        && policy.maxId().isPresent()
        && number > policy.maxId().getAsLong()
        && !ids.isGrowing(type);
  }

  private static RedirectOutcome to(Opening opening, Mapping mapping, Instant now) {
    return new RedirectOutcome.To(
        opening.target().apply(mapping),
        opening.policy().status(),
        opening.policy().maxAgeSeconds(now),
        Optional.of(RedirectOutcome.Notice.of(opening.policy())));
  }
}
