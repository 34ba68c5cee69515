package dev.coatcheck.ids.url;

import java.nio.charset.StandardCharsets;

/**
 * Where a URL holds a text of interest, from {@code start} up to but not including {@code end}.
 *
 * @param text decoded, one character for each byte; the URL may spell it with percent signs
 */
record UrlSlice(String text, int start, int end) {
  String unicodeText() {
    return new String(text.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }
}
