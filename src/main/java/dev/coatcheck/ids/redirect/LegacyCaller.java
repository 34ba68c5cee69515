package dev.coatcheck.ids.redirect;

import dev.coatcheck.ids.access.ApiKey;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Who asks for legacy IDs. The headers are read only where a legacy ID is found.
 *
 * @param keyId of the API key; empty for a visitor
 * @param headers the values of a header, by its name; a client may have sent anything
 * @param visitor its address
 */
public record LegacyCaller(
    Optional<String> keyId, Function<String, List<String>> headers, Supplier<Visitor> visitor) {
  /** In the place of what a request doesn't have. */
  static final String NONE = "(none)";

  /** In the place of what can't be read. */
  private static final String UNREADABLE = "(unreadable)";

  private static final int USER_AGENT_LENGTH_MAX = 200;
  private static final int HOST_LENGTH_MAX = 253;

  /** Of a URL: its host without user and port. */
  private static final Pattern HOST =
      Pattern.compile(
          "[a-z][a-z0-9+.-]{0,20}://(?:[^/?#@]{0,500}@)?([a-z0-9._-]+|\\[[0-9a-f:.]+])(?::[0-9]{0,5})?(?:[/?#].*)?");

  /** The ID of the API key as answers show it; empty for a visitor. */
  public Optional<String> keyName() {
    return keyId.map(ApiKey::shown);
  }

  /** A text of a bounded length, without control characters. */
  String text(CallerKind kind) {
    return switch (kind) {
      case API_KEY -> keyName().orElse(NONE);
      case USER_AGENT -> header("User-Agent").map(LegacyCaller::plain).orElse(NONE);
      case REFERRING_HOST -> header("Referer").map(LegacyCaller::host).orElse(NONE);
      case ADDRESS_RANGE -> visitor.get().range();
    };
  }

  private Optional<String> header(String name) {
    return headers.apply(name).stream().findFirst().filter(value -> !value.isBlank());
  }

  /** Without what moves a cursor, breaks a line or turns the direction of a text. */
  private static String plain(String text) {
    if (text.length() <= USER_AGENT_LENGTH_MAX
        && text.chars().allMatch(c -> c >= ' ' && c <= '~')) {
      return text.strip(); // nearly all are, and this is on the way of each redirect
    }
    String plain =
        text.codePoints()
            .filter(LegacyCaller::isPlain)
            .limit(USER_AGENT_LENGTH_MAX)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString()
            .strip();
    return plain.isEmpty() ? UNREADABLE : plain;
  }

  private static boolean isPlain(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          false;
      default -> true;
    };
  }

  private static String host(String url) {
    Matcher parts = HOST.matcher(url.strip().toLowerCase(Locale.ROOT));
    return parts.matches() && parts.group(1).length() <= HOST_LENGTH_MAX
        ? parts.group(1)
        : UNREADABLE;
  }
}
