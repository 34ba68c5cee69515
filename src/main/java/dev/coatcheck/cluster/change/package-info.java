/** What every instance has to hear of: the change feed, and the caches that trust it. */
@NullMarked
package dev.coatcheck.cluster.change;

import org.jspecify.annotations.NullMarked;
