/** {@code coatcheck demo}: a table migration to look at, with a shop that continues to sell. */
@NullMarked
package dev.coatcheck.app.demo;

import org.jspecify.annotations.NullMarked;
