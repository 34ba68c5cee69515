/**
 * Keys of a class as attributes of entities, so that a charge's key is never taken for a user's.
 * Nothing here calls a gateway: public IDs are made where answers are written.
 */
@NullMarked
package dev.coatcheck.hibernate;

import org.jspecify.annotations.NullMarked;
