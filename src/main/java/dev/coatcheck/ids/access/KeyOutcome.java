package dev.coatcheck.ids.access;

/** The result of a call that changes API keys. */
public sealed interface KeyOutcome {

  /** A new key. Its text can't be shown again. */
  record Made(ApiKey key, StoredKey stored) implements KeyOutcome {}

  /** The key as it is now. */
  record Patched(StoredKey key) implements KeyOutcome {}

  /**
   * The key is ended, now or before.
   *
   * @param successors how many keys that it made by rotation ended with it, now
   */
  record Revoked(StoredKey key, int successors) implements KeyOutcome {}

  record Unknown() implements KeyOutcome {}

  /** The caller's key was revoked, or expired, before the change. */
  record CallerEnded() implements KeyOutcome {}

  /** The caller's key has no scope for changes of this key. */
  record CallerLacksScope() implements KeyOutcome {}

  /**
   * The key has more rights than the caller, before the change or after it.
   *
   * @param field the first right beyond those of the caller, as requests name it
   */
  record BeyondCaller(String field) implements KeyOutcome {}

  /** Another key has or had the principal, and the caller may not act as others. */
  record PrincipalTaken() implements KeyOutcome {}

  /** A right is for a type that is not registered. */
  record TypeUnknown() implements KeyOutcome {}

  /** The new expiry has passed. */
  record ExpiryPassed() implements KeyOutcome {}

  /** The key was revoked or has expired, for good. */
  record Ended() implements KeyOutcome {}

  /** The key has a successor already. */
  record AlreadyRotated() implements KeyOutcome {}

  /** The key is at another version than the caller has read. */
  record VersionDiffers() implements KeyOutcome {}
}
