package dev.coatcheck.migrate.inspect;

/**
 * Something that was seen in a source.
 *
 * @param code stable, in snake_case
 * @param detail what was found and what to do about it, in whole sentences
 */
public record Diagnostic(String code, String detail) {}
