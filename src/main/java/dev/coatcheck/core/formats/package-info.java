/** Formats of IDs in common use: what a text can be, field by field, and what it reveals. */
@NullMarked
package dev.coatcheck.core.formats;

import org.jspecify.annotations.NullMarked;
