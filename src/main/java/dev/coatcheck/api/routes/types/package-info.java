/** Types over HTTP. */
@NullMarked
package dev.coatcheck.api.routes.types;

import org.jspecify.annotations.NullMarked;
