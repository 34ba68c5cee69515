/** The names of constants outside of the program. */
@NullMarked
package dev.coatcheck.core.name;

import org.jspecify.annotations.NullMarked;
