package dev.coatcheck.ids.access;

/** Whether a request may go on. */
public sealed interface AccessDecision {

  record Granted(Caller caller) implements AccessDecision {}

  /** No key, or none that is valid now. */
  record Unauthenticated(String reason) implements AccessDecision {}

  /** A valid key that lacks the scope. */
  record Forbidden(Scope missing) implements AccessDecision {}
}
