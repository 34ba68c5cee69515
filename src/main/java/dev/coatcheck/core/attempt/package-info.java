/** Work that is attempted on threads which must not wait. */
@NullMarked
package dev.coatcheck.core.attempt;

import org.jspecify.annotations.NullMarked;
