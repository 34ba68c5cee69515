/** What happens, said once: a sealed event that the log and the metrics both read. */
@NullMarked
package dev.coatcheck.core.observe;

import org.jspecify.annotations.NullMarked;
