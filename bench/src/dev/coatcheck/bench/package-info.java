/** The measurements behind coatcheck bench. */
@NullMarked
package dev.coatcheck.bench;

import org.jspecify.annotations.NullMarked;
