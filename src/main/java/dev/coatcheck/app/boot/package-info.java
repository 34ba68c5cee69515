/** Configuration and the wiring of everything, in start order. */
@NullMarked
package dev.coatcheck.app.boot;

import org.jspecify.annotations.NullMarked;
