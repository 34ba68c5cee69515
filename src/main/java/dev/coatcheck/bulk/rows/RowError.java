package dev.coatcheck.bulk.rows;

/**
 * A row of a file that was set aside.
 *
 * @param line where it stands, counted from 1, the header included
 */
public record RowError(long line, RowFault fault) {}
