/** Pins: rows for the keys of a leaked seal key. */
@NullMarked
package dev.coatcheck.ids.pin;

import org.jspecify.annotations.NullMarked;
