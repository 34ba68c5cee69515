/** {@code coatcheck demo}: a table migration to look at, with a shop that goes on selling. */
@NullMarked
package dev.coatcheck.app.demo;

import org.jspecify.annotations.NullMarked;
