package dev.coatcheck.source;

/**
 * Something about a table that somebody has to know.
 *
 * @param code stable
 * @param detail a sentence that says what to do
 */
public record Finding(String code, String detail) {}
