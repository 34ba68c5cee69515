/** The changes that every instance has to know: the change feed, and the caches that trust it. */
@NullMarked
package dev.coatcheck.cluster.change;

import org.jspecify.annotations.NullMarked;
