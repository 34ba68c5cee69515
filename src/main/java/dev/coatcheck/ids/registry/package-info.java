/** The registered types. */
@NullMarked
package dev.coatcheck.ids.registry;

import org.jspecify.annotations.NullMarked;
