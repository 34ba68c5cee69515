package dev.coatcheck.ids.url;

import java.nio.charset.StandardCharsets;

/**
 * A part of a URL that may be an ID, from {@code start} (inclusive) to {@code end} (exclusive).
 *
 * @param text decoded, one character for each byte; the URL may spell it with percent signs
 */
record UrlSlice(String text, int start, int end) {
  String unicodeText() {
    return new String(text.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }
}
