/** What a handler reads and returns: strict JSON and parameters in, answers and problems out. */
@NullMarked
package dev.coatcheck.api.exchange;

import org.jspecify.annotations.NullMarked;
