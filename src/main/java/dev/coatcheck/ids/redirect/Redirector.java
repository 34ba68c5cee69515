package dev.coatcheck.ids.redirect;

import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.registry.Redirect;
import dev.coatcheck.ids.registry.Type;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Finds the redirect of a public ID: its type's template, filled. Public IDs of older systems that
 * a rule decodes lead where their legacy ID or key does.
 */
public final class Redirector {
  private final Resolver resolver;
  private final LegacyRedirector legacy;

  Redirector(Resolver resolver, LegacyRedirector legacy) {
    this.resolver = resolver;
    this.legacy = legacy;
  }

  /**
   * Where the text leads. A text of a type without public links is treated like a random one: no
   * rule decodes it, nothing is queried for it, and it doesn't count.
   *
   * @param visitor asked for only if the text is of an older system
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres has to be asked and can't be
   */
  public RedirectOutcome redirect(String text, Supplier<Visitor> visitor) {
    return legacy
        .follow(text, visitor)
        .<RedirectOutcome>map(RedirectOutcome.Older::new)
        .orElseGet(() -> outcome(resolver.resolve(text, type -> publicRedirect(type).isPresent())));
  }

  private static RedirectOutcome outcome(ResolveOutcome resolved) {
    return switch (resolved) {
      case ResolveOutcome.Found(Mapping mapping) -> to(mapping);
      case ResolveOutcome.Merged merged -> to(merged.survivor());
      case ResolveOutcome.Revoked revoked ->
          publicRedirect(revoked.mapping().type())
              .<RedirectOutcome>map(_ -> new RedirectOutcome.Gone())
              .orElseGet(RedirectOutcome.NotFound::new);
      case ResolveOutcome.Unknown _, ResolveOutcome.Malformed _ -> new RedirectOutcome.NotFound();
    };
  }

  private static RedirectOutcome to(Mapping mapping) {
    return publicRedirect(mapping.type())
        .<RedirectOutcome>map(redirect -> to(redirect, mapping))
        .orElseGet(RedirectOutcome.NotFound::new);
  }

  private static Optional<Redirect> publicRedirect(Type type) {
    return type.redirect().filter(Redirect::isPublic);
  }

  private static RedirectOutcome to(Redirect redirect, Mapping mapping) {
    return new RedirectOutcome.To(
        redirect.template().fill(mapping.publicId(), mapping.key()),
        redirect.status(),
        redirect.maxAgeSeconds());
  }
}
