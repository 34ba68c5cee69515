/** Files of rows: CSV and NDJSON, line by line. */
@NullMarked
package dev.coatcheck.bulk.rows;

import org.jspecify.annotations.NullMarked;
