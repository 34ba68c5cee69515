package dev.coatcheck.ids.access;

/** Whether a request is allowed. */
public sealed interface AccessDecision {

  record Granted(Caller caller) implements AccessDecision {}

  sealed interface Refused extends AccessDecision {}

  /** No key, or no valid key. */
  record Unauthenticated() implements Refused {}

  /** A valid key, used from an address outside its ranges. */
  record AddressNotAllowed() implements Refused {}

  /** A valid key that lacks the scope. */
  record Forbidden(Scope missing) implements Refused {}
}
