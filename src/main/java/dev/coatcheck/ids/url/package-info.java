/** Public URLs to internal ones and back, for the edge of an API. */
@NullMarked
package dev.coatcheck.ids.url;

import org.jspecify.annotations.NullMarked;
