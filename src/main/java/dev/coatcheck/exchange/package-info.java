/** What every route reads and writes: strict JSON in, answers and problems out. */
@NullMarked
package dev.coatcheck.exchange;

import org.jspecify.annotations.NullMarked;
