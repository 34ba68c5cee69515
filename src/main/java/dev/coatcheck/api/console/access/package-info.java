/** The pages of people and programs with access: the sign-in, and API keys. */
@NullMarked
package dev.coatcheck.api.console.access;

import org.jspecify.annotations.NullMarked;
