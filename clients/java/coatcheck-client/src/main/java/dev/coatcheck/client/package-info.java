/** Calls of a Coatcheck gateway, with public IDs in the types of the application. */
@NullMarked
package dev.coatcheck.client;

import org.jspecify.annotations.NullMarked;
