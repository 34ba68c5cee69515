package dev.coatcheck.registry;

import dev.coatcheck.id.Prefix;
import dev.coatcheck.key.KeyScheme;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A registered resource type.
 *
 * @param number its number in the database, which rows carry in place of the name
 * @param keyLayout name of the Snowflake layout; {@code default} for other schemes too
 * @param version goes up by one with every change
 */
public record Type(
    int number,
    String name,
    Prefix prefix,
    KeyScheme keyScheme,
    String keyLayout,
    Salt salt,
    Optional<Redirect> redirect,
    Instant createdAt,
    Instant updatedAt,
    int version) {
  public static final String DEFAULT_LAYOUT = "default";

  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]{0,62}");

  /** Whether the text can name a type: a lower-case letter, then up to 62 of {@code a-z0-9_}. */
  public static boolean isName(String text) {
    return NAME.matcher(text).matches();
  }
}
