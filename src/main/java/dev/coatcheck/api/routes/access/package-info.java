/** API keys over HTTP. */
@NullMarked
package dev.coatcheck.api.routes.access;

import org.jspecify.annotations.NullMarked;
