/** Who changed what: entries that are committed with their change. */
@NullMarked
package dev.coatcheck.cluster.audit;

import org.jspecify.annotations.NullMarked;
