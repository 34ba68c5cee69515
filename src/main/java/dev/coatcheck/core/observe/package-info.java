/** Events: one sealed type that the log and the metrics both read. */
@NullMarked
package dev.coatcheck.core.observe;

import org.jspecify.annotations.NullMarked;
