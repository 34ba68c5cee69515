/** One connection outside of every pool, for work that may last, and the watch over it. */
@NullMarked
package dev.coatcheck.postgres.session;

import org.jspecify.annotations.NullMarked;
