/** Snos: compact IDs with a metabyte, made without a database as long as one state is kept. */
@NullMarked
package dev.coatcheck.core.sno;

import org.jspecify.annotations.NullMarked;
