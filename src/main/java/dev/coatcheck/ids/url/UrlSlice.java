package dev.coatcheck.ids.url;

/**
 * Where a URL holds a text of interest, from {@code start} up to but not including {@code end}.
 *
 * @param text decoded; the URL may spell it with percent signs
 */
record UrlSlice(String text, int start, int end) {}
