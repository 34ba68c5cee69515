/** Configuration and the wiring of everything, in start order. */
@NullMarked
package dev.coatcheck.boot;

import org.jspecify.annotations.NullMarked;
