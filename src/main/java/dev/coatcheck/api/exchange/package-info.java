/** What a handler reads and answers: strict JSON and parameters in, answers and problems out. */
@NullMarked
package dev.coatcheck.api.exchange;

import org.jspecify.annotations.NullMarked;
