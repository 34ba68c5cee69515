/** How mappings and their latency grow with their number. */
@NullMarked
package dev.coatcheck.bench.growth;

import org.jspecify.annotations.NullMarked;
