/** The program's entry. */
@NullMarked
package dev.coatcheck;

import org.jspecify.annotations.NullMarked;
