package dev.coatcheck.cluster.audit;

import java.util.Optional;

/**
 * Who changes something, for the audit.
 *
 * @param name the principal of an API key, or {@code operator} for a command that works in the
 *     database itself, or {@value #ANONYMOUS}
 * @param keyId public part of the API key
 * @param address of the client
 */
public record Actor(
    String name, Optional<String> keyId, Optional<String> address, Optional<String> requestId) {

  /** The name of a caller without an API key. */
  public static final String ANONYMOUS = "anonymous";

  /** For commands that work in the database itself: no API key, no request. */
  public static Actor operator() {
    return new Actor("operator", Optional.empty(), Optional.empty(), Optional.empty());
  }
}
