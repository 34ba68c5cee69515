/**
 * Keys of a class in records, so that a charge's key is never taken for a user's. Nothing here
 * calls a gateway: public IDs are made where answers are written.
 */
@NullMarked
package dev.coatcheck.jooq;

import org.jspecify.annotations.NullMarked;
