/** The load on an HTTP server: wrk, or a generator in a process of its own. */
@NullMarked
package dev.coatcheck.bench.load;

import org.jspecify.annotations.NullMarked;
