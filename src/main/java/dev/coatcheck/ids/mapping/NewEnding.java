package dev.coatcheck.ids.mapping;

/**
 * An ending to be written, with the row that it ends.
 *
 * @param by the principal that asked for it
 */
public record NewEnding(StoredMapping row, StoredEnding ending, String by) {}
