/** The pages that say what an ID is, and what can be done to it. */
@NullMarked
package dev.coatcheck.api.console.find;

import org.jspecify.annotations.NullMarked;
