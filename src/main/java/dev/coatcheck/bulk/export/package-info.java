/** Export of mappings by the million: one COPY, written as rows of CSV or NDJSON. */
@NullMarked
package dev.coatcheck.bulk.export;

import org.jspecify.annotations.NullMarked;
