/** The server with all its routes, and the answers that need no request thread. */
@NullMarked
package dev.coatcheck.api.gateway;

import org.jspecify.annotations.NullMarked;
