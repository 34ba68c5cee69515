/** What happens, said once: a sealed event that the log and the metrics both read. */
@NullMarked
package dev.coatcheck.observe;

import org.jspecify.annotations.NullMarked;
