/** The new key of a customer's rows: its number source, dual write, backfill and verification. */
@NullMarked
package dev.coatcheck.rekey;

import org.jspecify.annotations.NullMarked;
