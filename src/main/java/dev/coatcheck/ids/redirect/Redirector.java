package dev.coatcheck.ids.redirect;

import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.registry.Redirect;
import java.util.Optional;

/** Finds the redirect of a public ID: its type's template, filled. */
public final class Redirector {
  private final Resolver resolver;

  public Redirector(Resolver resolver) {
    this.resolver = resolver;
  }

  /**
   * Where the text leads.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres has to be asked and can't be
   */
  public RedirectOutcome redirect(String text) {
    return outcome(resolver.resolve(text));
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
