package dev.coatcheck.bulk.rows;

/**
 * A refused row of a file.
 *
 * @param line counted from 1, including the header
 */
public record RowError(long line, RowFault fault) {}
