/** A customer's tables: where they are, what they are made of, and what stands in the way. */
@NullMarked
package dev.coatcheck.source;

import org.jspecify.annotations.NullMarked;
