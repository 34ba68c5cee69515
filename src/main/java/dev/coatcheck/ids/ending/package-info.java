/** The end of public IDs: revocations and merges. */
@NullMarked
package dev.coatcheck.ids.ending;

import org.jspecify.annotations.NullMarked;
