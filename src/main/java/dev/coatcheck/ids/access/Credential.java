package dev.coatcheck.ids.access;

import java.util.Optional;

/**
 * What a request shows to be let in. It is read once for a request: access is decided several times
 * on the way to an answer, and the check and the digest of an API key take most of a decision.
 */
public sealed interface Credential {
  /** The request has no Authorization header. */
  record None() implements Credential {}

  /** The header holds no API key. */
  record Unreadable(String reason) implements Credential {}

  /** The header holds what looks like an API key; whether the key exists is not known. */
  record Key(ApiKey key) implements Credential {}

  /**
   * Reads a credential, without the database.
   *
   * @param authorization the value of the Authorization header, empty if there is none
   */
  static Credential of(Optional<String> authorization) {
    return authorization.<Credential>map(Credential::read).orElseGet(None::new);
  }

  private static Credential read(String authorization) {
    String bearer = "bearer ";
    if (!authorization.regionMatches(true, 0, bearer, 0, bearer.length())) {
      return new Unreadable("not a bearer token");
    }
    return ApiKey.parse(authorization.substring(bearer.length()))
        .<Credential>map(Key::new)
        .orElseGet(() -> new Unreadable("malformed key"));
  }
}
