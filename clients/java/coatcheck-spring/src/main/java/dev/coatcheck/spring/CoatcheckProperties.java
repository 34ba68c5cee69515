package dev.coatcheck.spring;

import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings that begin with {@code coatcheck.}. A setting that is wrong stops the start.
 *
 * @param url address of the gateway, such as {@code http://127.0.0.1:8080}; without it there is no
 *     client, and no bean of this library that needs one
 * @param apiKey the API key, which needs the scope {@code ids:read}; {@code ids:write} to mint. A
 *     bean {@link CoatcheckApiKey} takes its place
 * @param deadline how long a call of the gateway may take with all its tries, more than zero
 * @param cachedAnswers how many answers about public IDs in use to keep; 0, the default, for none,
 *     or 2 or more. The client then follows what ends at the gateway, as of {@link
 *     dev.coatcheck.client.CoatcheckClient.Builder#cache}
 * @param wrongType how the public ID of another type is answered
 * @param keys where the public IDs of keys in answers come from
 */
@ConfigurationProperties("coatcheck")
public record CoatcheckProperties(
    @Nullable URI url,
    @DefaultValue("") String apiKey,
    @DefaultValue("10s") Duration deadline,
    @DefaultValue("0") int cachedAnswers,
    @DefaultValue("bad-request") WrongType wrongType,
    @DefaultValue("look-up") Keys keys) {
  /**
   * Refuses a deadline of zero or less, and a cache for one, with an {@link
   * IllegalArgumentException}.
   */
  public CoatcheckProperties {
    if (deadline.isZero() || deadline.isNegative()) {
      throw new IllegalArgumentException("coatcheck.deadline must be more than 0, such as 10s");
    }
    if (cachedAnswers < 0 || cachedAnswers == 1) {
      throw new IllegalArgumentException("coatcheck.cached-answers must be 0, or 2 or more");
    }
  }

  /** Without the API key, and so without what a log must not have. */
  @Override
  public String toString() {
    return "CoatcheckProperties[url=%s, deadline=%s, cachedAnswers=%d, wrongType=%s, keys=%s]"
        .formatted(url, deadline, cachedAnswers, wrongType, keys);
  }

  /** How the public ID of another type is answered. */
  public enum WrongType {
    /** With 400, and both prefixes: best for those who write clients. */
    BAD_REQUEST,
    /** With 404, like an unknown public ID: says nothing about other types. */
    NOT_FOUND
  }

  /** Where the public IDs of keys in answers come from. */
  public enum Keys {
    /** They exist. A key without a public ID is an error of the application: 500. */
    LOOK_UP,
    /** They are minted where they are missing; the API key needs {@code ids:write}. */
    MINT
  }
}
