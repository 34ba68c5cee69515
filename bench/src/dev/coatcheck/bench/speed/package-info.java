/** The measures of the gateway's speed and size, each beside its baseline. */
@NullMarked
package dev.coatcheck.bench.speed;

import org.jspecify.annotations.NullMarked;
