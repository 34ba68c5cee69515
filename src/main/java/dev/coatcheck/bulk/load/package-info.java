/** Mappings by the million, in: files of CSV and NDJSON, chunk by chunk. */
@NullMarked
package dev.coatcheck.bulk.load;

import org.jspecify.annotations.NullMarked;
