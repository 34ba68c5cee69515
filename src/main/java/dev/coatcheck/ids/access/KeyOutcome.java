package dev.coatcheck.ids.access;

/** The result of a call that changes API keys. */
public sealed interface KeyOutcome {

  /** A new key. Its text can't be shown again. */
  record Made(ApiKey key, StoredKey stored) implements KeyOutcome {}

  /** The same form made this key before. Its text can't be shown again. */
  record MadeBefore(StoredKey stored) implements KeyOutcome {}

  /** The key as it is now. */
  record Patched(StoredKey key) implements KeyOutcome {}

  /**
   * The key is ended, now or before.
   *
   * @param successors how many keys that it made by rotation ended with it, now
   */
  record Revoked(StoredKey key, int successors) implements KeyOutcome {}

  /** Nothing was changed. */
  sealed interface Refused extends KeyOutcome {}

  record Unknown() implements Refused {}

  /** The caller's key was revoked, or expired, before the change. */
  record CallerEnded() implements Refused {}

  /** The caller's key has no scope for changes of this key. */
  record CallerLacksScope() implements Refused {}

  /**
   * The key has more rights than the caller, before the change or after it.
   *
   * @param field the first right beyond those of the caller, as requests name it
   */
  record BeyondCaller(String field) implements Refused {}

  /** Another key has or had the principal, and the caller may not act as others. */
  record PrincipalTaken() implements Refused {}

  /** A right is for a type that is not registered. */
  record TypeUnknown() implements Refused {}

  record ExpiryPassed() implements Refused {}

  /** The key was revoked or has expired, for good. */
  record Ended() implements Refused {}

  /** The key has a successor already. */
  record AlreadyRotated() implements Refused {}

  /** The key is at another version than the caller has read. */
  record VersionDiffers() implements Refused {}
}
