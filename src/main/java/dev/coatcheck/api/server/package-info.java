/** What every connection and request passes: listener, limits, edge, permits and access. */
@NullMarked
package dev.coatcheck.api.server;

import org.jspecify.annotations.NullMarked;
