/** What public IDs of older systems, and URLs with legacy IDs, look like. */
@NullMarked
package dev.coatcheck.ids.pattern;

import org.jspecify.annotations.NullMarked;
