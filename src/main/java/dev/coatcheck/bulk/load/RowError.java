package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.RowFault;

/**
 * A row that was set aside.
 *
 * @param line where it stands, counted from 1, the header included
 */
public record RowError(long line, RowFault fault) {}
