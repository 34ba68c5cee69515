package dev.coatcheck.ids.url;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Percent signs in a part of a URL, which is ASCII. */
final class Escapes {
  private static final int ESCAPE_LENGTH = 3;

  private Escapes() {}

  /** A part with its escapes decoded. */
  static final class Decoded {
    private final String text;
    private final int[] at;

    private Decoded(String text, int[] at) {
      this.text = text;
      this.at = at;
    }

    /** One character for each byte; what is beyond ASCII only has to be no part of an ID. */
    String text() {
      return text;
    }

    /** Where some of the text stands in the URL. */
    UrlSlice slice(int from, int to) {
      return new UrlSlice(text.substring(from, to), at[from], at[to]);
    }
  }

  /** Decodes what can be decoded; a percent sign without two digits after it stands for itself. */
  static Decoded decode(String url, int start, int end) {
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
  static @Nullable String offence(String url, int start, int end) {
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
