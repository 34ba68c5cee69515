/** Types and their legacy traffic, for people. */
@NullMarked
package dev.coatcheck.api.console.types;

import org.jspecify.annotations.NullMarked;
