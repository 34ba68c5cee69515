/** Files of rows: mappings by the million, in and out. */
@NullMarked
package dev.coatcheck.api.routes.transfers;

import org.jspecify.annotations.NullMarked;
