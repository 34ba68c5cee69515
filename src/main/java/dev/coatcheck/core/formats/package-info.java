/** The formats of IDs in the field: what a text can be, field by field, and what it gives away. */
@NullMarked
package dev.coatcheck.core.formats;

import org.jspecify.annotations.NullMarked;
