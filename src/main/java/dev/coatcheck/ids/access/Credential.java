package dev.coatcheck.ids.access;

import java.util.Optional;

/**
 * The Authorization header of a request. It is parsed once per request: access is decided several
 * times before the answer, and the check and the digest of an API key take most of that time.
 */
public sealed interface Credential {
  /** The request has no Authorization header. */
  record None() implements Credential {}

  /** The header contains no API key. */
  record Unreadable(String reason) implements Credential {}

  /** The header contains the text of an API key, which may or may not exist. */
  record Key(ApiKey key) implements Credential {}

  /**
   * Parses a credential, without a query.
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
