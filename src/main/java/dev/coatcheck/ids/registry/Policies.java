package dev.coatcheck.ids.registry;

import dev.coatcheck.ids.pattern.PublicPattern;
import java.util.Optional;

/** All that may change about a type. What a caller leaves out falls back to its default. */
public record Policies(
    Optional<Redirect> redirect,
    Optional<LegacyPolicy> legacy,
    Optional<PublicPattern> publicPattern,
    OutagePolicy outage) {
  public static final Policies DEFAULT = redirecting(Optional.empty());

  /** The defaults, but for the redirect. */
  public static Policies redirecting(Optional<Redirect> redirect) {
    return new Policies(redirect, Optional.empty(), Optional.empty(), OutagePolicy.DEFAULT);
  }
}
