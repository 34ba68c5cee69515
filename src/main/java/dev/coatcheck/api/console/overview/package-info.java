/** The page that says how the gateways are. */
@NullMarked
package dev.coatcheck.api.console.overview;

import org.jspecify.annotations.NullMarked;
