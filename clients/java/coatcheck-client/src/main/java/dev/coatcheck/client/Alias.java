package dev.coatcheck.client;

import java.util.Optional;
import java.util.UUID;

/**
 * Another name of a public ID.
 *
 * @param scheme {@code legacy}, {@code client} or {@code public}
 * @param value the name
 * @param clientNamespace only of a client ID: where it is unique
 */
public record Alias(String scheme, String value, Optional<String> clientNamespace) {
  /**
   * The number that a row had before it had a public ID.
   *
   * @param number 1 to 2^63 - 1
   * @return the alias
   */
  public static Alias ofLegacyId(long number) {
    return new Alias("legacy", Long.toString(number), Optional.empty());
  }

  /**
   * A UUID that a client made.
   *
   * @param id the UUID
   * @param namespace the channel, user or device that made it, 1 to 64 visible ASCII characters
   * @return the alias
   */
  public static Alias ofClientId(UUID id, String namespace) {
    return new Alias("client", id.toString(), Optional.of(namespace));
  }

  /**
   * A public ID of an older system.
   *
   * @param text as the {@code public_pattern} of the type describes it
   * @return the alias
   */
  public static Alias ofOlderPublicId(String text) {
    return new Alias("public", text, Optional.empty());
  }

  String path() {
    return "/aliases/"
        + scheme
        + "/"
        + GatewayRequest.segment(value)
        + clientNamespace
            .map(namespace -> "?client_namespace=" + GatewayRequest.segment(namespace))
            .orElse("");
  }
}
