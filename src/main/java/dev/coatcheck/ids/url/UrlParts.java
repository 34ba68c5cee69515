package dev.coatcheck.ids.url;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A URL that every program reads alike: {@code http(s)://host…} or {@code /path…}, then maybe a
 * query.
 *
 * <p>Refused are user names, fragments, characters that no URL has unencoded, dot segments, a path
 * that starts with two slashes, and in the path whatever is encoded twice, is not UTF-8, or decodes
 * to a slash, a backslash or a control character. In the query, anything printable passes.
 *
 * @param pathAt where the path starts, or would start
 * @param queryAt where the question mark stands, or the URL ends
 */
record UrlParts(String text, int pathAt, int queryAt) {
  static final int LENGTH_MAX = 4_096;

  private static final int ESCAPE_LENGTH = 3;

  /** What may follow an ID or key within its segment: a format, an action, a matrix parameter. */
  private static final String SUFFIX_STARTS = ".:;";

  private static final Pattern ORIGIN =
      Pattern.compile("(?i:https?)://(?:[0-9A-Za-z._~-]+|\\[[0-9A-Fa-f:.]+])(?::[0-9]{1,5})?");

  /** The result of parsing a URL. */
  sealed interface Parsed {
    record Valid(UrlParts parts) implements Parsed {}

    /**
     * Refused, because two programs in a row could read it in two ways.
     *
     * @param why ends the sentence "The URL …"; a fixed text
     */
    record Invalid(String why) implements Parsed {}
  }

  static Parsed parse(String text) {
    if (text.isEmpty() || text.length() > LENGTH_MAX) {
      return new Parsed.Invalid("is empty or has more than 4,096 characters");
    }
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c <= ' ' || c >= 0x7f || c == '\\' || c == '#') {
        return new Parsed.Invalid(
            "has a space, a backslash, a fragment, or a character beyond printable ASCII");
      }
    }
    int pathAt = pathAt(text);
    if (pathAt < 0) {
      return new Parsed.Invalid(
          "starts neither with one slash nor with http:// or https:// and a plain host");
    }
    int mark = text.indexOf('?', pathAt);
    UrlParts parts = new UrlParts(text, pathAt, mark < 0 ? text.length() : mark);
    String offence = parts.pathOffence();
    return offence == null ? new Parsed.Valid(parts) : new Parsed.Invalid(offence);
  }

  /** Path and query, as a request for it has them. */
  String requestUri() {
    String uri = text.substring(pathAt);
    return uri.startsWith("/") ? uri : "/" + uri;
  }

  /** Each segment of the path, up to what may follow an ID or key in it. */
  List<UrlSlice> segments() {
    return path().stream()
        .map(this::decoded)
        .map(segment -> segment.slice(0, suffixAt(segment.text())))
        .toList();
  }

  /** Each segment of the path in full, as the URL spells it. */
  List<String> wholeSegments() {
    return path().stream().map(UrlSlice::text).toList();
  }

  /** Each segment of the path in full and decoded. */
  List<UrlSlice> decodedSegments() {
    return path().stream()
        .map(this::decoded)
        .map(segment -> segment.slice(0, segment.text().length()))
        .toList();
  }

  /** The texts of the same; a slash at the end starts no segment. */
  List<String> pathWithoutLastSlash() {
    List<String> path = path().stream().map(segment -> decoded(segment).text()).toList();
    return path.size() > 1 && path.getLast().isEmpty() ? path.subList(0, path.size() - 1) : path;
  }

  /** Each item of each comma list in the query's values; most lists have one item. */
  List<UrlSlice> values() {
    List<UrlSlice> values = new ArrayList<>();
    for (UrlSlice part : parts('&', queryAt + 1, text.length())) {
      int equals = part.text().indexOf('=');
      if (equals >= 0) {
        addItems(decode(text, part.start() + equals + 1, part.end()), values);
      }
    }
    return values;
  }

  /** The URL with other texts in some slices, which are in their order; the rest byte for byte. */
  String with(List<UrlSlice> slices, List<String> texts) {
    StringBuilder changed = new StringBuilder(text.length());
    int from = 0;
    for (int i = 0; i < slices.size(); i++) {
      changed.append(text, from, slices.get(i).start()).append(texts.get(i));
      from = slices.get(i).end();
    }
    return changed.append(text, from, text.length()).toString();
  }

  private static int pathAt(String text) {
    if (text.charAt(0) == '/') {
      return 0;
    }
    Matcher origin = ORIGIN.matcher(text);
    if (!origin.lookingAt()) {
      return -1;
    }
    int end = origin.end();
    return end == text.length() || text.charAt(end) == '/' || text.charAt(end) == '?' ? end : -1;
  }

  private @Nullable String pathOffence() {
    if (text.startsWith("//", pathAt)) {
      return "has a path that starts with two slashes";
    }
    for (UrlSlice segment : path()) {
      String offence = segmentOffence(segment);
      if (offence != null) {
        return offence;
      }
    }
    return null;
  }

  private @Nullable String segmentOffence(UrlSlice segment) {
    boolean escaped = segment.text().indexOf('%') >= 0;
    String offence = escaped ? offence(text, segment.start(), segment.end()) : null;
    if (offence != null) {
      return offence;
    }
    String name = escaped ? decoded(segment).text() : segment.text();
    int semicolon = name.indexOf(';');
    String plain = semicolon < 0 ? name : name.substring(0, semicolon);
    return plain.equals(".") || plain.equals("..") ? "has a dot segment" : null;
  }

  /** The segments of the path; of a URL without a path an empty one. */
  private List<UrlSlice> path() {
    return parts('/', Math.min(pathAt + 1, queryAt), queryAt);
  }

  private List<UrlSlice> parts(char separator, int from, int to) {
    List<UrlSlice> parts = new ArrayList<>();
    int start = from;
    while (start <= to) {
      int found = text.indexOf(separator, start);
      int end = found < 0 || found > to ? to : found;
      parts.add(new UrlSlice(text.substring(start, end), start, end));
      start = end + 1;
    }
    return parts;
  }

  private static int suffixAt(String segment) {
    for (int i = 0; i < segment.length(); i++) {
      if (SUFFIX_STARTS.indexOf(segment.charAt(i)) >= 0) {
        return i;
      }
    }
    return segment.length();
  }

  private static void addItems(Decoded value, List<UrlSlice> into) {
    int start = 0;
    while (start <= value.text().length()) {
      int comma = value.text().indexOf(',', start);
      int end = comma < 0 ? value.text().length() : comma;
      into.add(value.slice(start, end));
      start = end + 1;
    }
  }

  private static final class Decoded {
    private final String text;
    private final int[] at;

    private Decoded(String text, int[] at) {
      this.text = text;
      this.at = at;
    }

    /** One character for each byte: bytes beyond ASCII are never part of an ID. */
    String text() {
      return text;
    }

    /** Where some of the text stands in the URL. */
    UrlSlice slice(int from, int to) {
      return new UrlSlice(text.substring(from, to), at[from], at[to]);
    }
  }

  private Decoded decoded(UrlSlice part) {
    return decode(text, part.start(), part.end());
  }

  /** Decodes the valid escapes; any other percent sign stands for itself. */
  private static Decoded decode(String url, int start, int end) {
    StringBuilder text = new StringBuilder(end - start);
    int[] at = new int[end - start + 1];
    int next = start;
    while (next < end) {
      at[text.length()] = next;
      int value = url.charAt(next) == '%' ? valueAt(url, next, end) : -1;
      text.append(value < 0 ? url.charAt(next) : (char) value);
      next += value < 0 ? 1 : ESCAPE_LENGTH;
    }
    at[text.length()] = end;
    return new Decoded(text.toString(), at);
  }

  /** Why a part of a path with percent signs in it is refused, or null. */
  private static @Nullable String offence(String url, int start, int end) {
    byte[] bytes = new byte[end - start];
    int length = 0;
    for (int i = start; i < end; i++) {
      char c = url.charAt(i);
      if (c == '%') {
        int value = valueAt(url, i, end);
        i += ESCAPE_LENGTH - 1;
        if (value < 0) {
          return "has a percent sign without two hexadecimal digits after it";
        }
        if (value < ' ' || value == 0x7f || value == '/' || value == '\\') {
          return "has an encoded slash, backslash or control character in its path";
        }
        if (value == '%' && valueAt(url, i, end) >= 0) {
          return "is encoded twice";
        }
        c = (char) value;
      }
      bytes[length++] = (byte) c;
    }
    return isUtf8(ByteBuffer.wrap(bytes, 0, length)) ? null : "has a path that is not UTF-8";
  }

  /** The value of the two digits after {@code percentAt}, or -1 if there are none. */
  private static int valueAt(String url, int percentAt, int end) {
    if (percentAt + ESCAPE_LENGTH > end) {
      return -1;
    }
    int high = hex(url.charAt(percentAt + 1));
    int low = hex(url.charAt(percentAt + 2));
    return high < 0 || low < 0 ? -1 : high << 4 | low;
  }

  private static int hex(char c) {
    return c < 0x80 ? Character.digit(c, 16) : -1;
  }

  private static boolean isUtf8(ByteBuffer bytes) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(bytes);
      return true;
    } catch (CharacterCodingException malformed) {
      return false;
    }
  }
}
