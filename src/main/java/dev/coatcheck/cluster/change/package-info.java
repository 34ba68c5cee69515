/**
 * The changes that every instance has to know: the change feed, and what trusts it, which are
 * caches and reads at a replica.
 */
@NullMarked
package dev.coatcheck.cluster.change;

import org.jspecify.annotations.NullMarked;
