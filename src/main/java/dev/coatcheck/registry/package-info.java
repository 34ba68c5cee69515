/** The registered types. */
@NullMarked
package dev.coatcheck.registry;

import org.jspecify.annotations.NullMarked;
