package dev.coatcheck.ids.redirect;

import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.registry.Redirect;
import dev.coatcheck.ids.registry.Registry;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Finds the redirect of a public ID: its type's template, filled. Public IDs of older systems that
 * a rule decodes lead where their legacy ID or key does.
 */
public final class Redirector {
  private final Registry registry;
  private final Resolver resolver;
  private final LegacyRedirector legacy;

  Redirector(Registry registry, Resolver resolver, LegacyRedirector legacy) {
    this.registry = registry;
    this.resolver = resolver;
    this.legacy = legacy;
  }

  /**
   * Where the text leads.
   *
   * @param visitor asked for only if the text is of an older system
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres has to be asked and can't be
   */
  public RedirectOutcome redirect(String text, Supplier<Visitor> visitor) {
    Optional<OlderId> older = OlderId.decoded(text, registry);
    return older.isPresent()
        ? new RedirectOutcome.Older(legacy.follow(older.get(), visitor.get()))
        : outcome(resolver.resolve(text));
  }

  private static RedirectOutcome outcome(ResolveOutcome resolved) {
    return switch (resolved) {
      case ResolveOutcome.Found(Mapping mapping) -> to(mapping);
      case ResolveOutcome.Merged merged -> to(merged.survivor());
      case ResolveOutcome.Revoked revoked ->
          publicRedirect(revoked.mapping())
              .<RedirectOutcome>map(_ -> new RedirectOutcome.Gone())
              .orElseGet(RedirectOutcome.NotFound::new);
      case ResolveOutcome.Unknown _, ResolveOutcome.Malformed _ -> new RedirectOutcome.NotFound();
    };
  }

  private static RedirectOutcome to(Mapping mapping) {
    return publicRedirect(mapping)
        .<RedirectOutcome>map(redirect -> to(redirect, mapping))
        .orElseGet(RedirectOutcome.NotFound::new);
  }

  private static Optional<Redirect> publicRedirect(Mapping mapping) {
    return mapping.type().redirect().filter(Redirect::isPublic);
  }

  private static RedirectOutcome to(Redirect redirect, Mapping mapping) {
    return new RedirectOutcome.To(
        redirect.template().fill(mapping.publicId(), mapping.key()),
        redirect.status(),
        redirect.maxAgeSeconds());
  }
}
