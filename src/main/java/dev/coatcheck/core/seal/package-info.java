/** Sealed public IDs: the key itself, enciphered, instead of a row in Postgres. */
@NullMarked
package dev.coatcheck.core.seal;

import org.jspecify.annotations.NullMarked;
