/** The hot path: mint, resolve, look up, list. */
@NullMarked
package dev.coatcheck.mapping;

import org.jspecify.annotations.NullMarked;
