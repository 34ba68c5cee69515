/** Mappings by the million, in and out: files of CSV and NDJSON. */
@NullMarked
package dev.coatcheck.transfer;

import org.jspecify.annotations.NullMarked;
