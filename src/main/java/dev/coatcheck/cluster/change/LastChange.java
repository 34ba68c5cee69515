package dev.coatcheck.cluster.change;

import dev.coatcheck.postgres.sql.KnownChange;

/**
 * The last change that an instance has read.
 *
 * @param timeline of the primary that was read from: another one after each promotion
 */
record LastChange(KnownChange change, long timeline) {}
