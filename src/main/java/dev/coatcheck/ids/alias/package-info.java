/** Aliases of public IDs: legacy IDs, client IDs, older public IDs. */
@NullMarked
package dev.coatcheck.ids.alias;

import org.jspecify.annotations.NullMarked;
