/** Regular expressions of the public IDs of older systems, in time linear in the text. */
@NullMarked
package dev.coatcheck.ids.pattern;

import org.jspecify.annotations.NullMarked;
