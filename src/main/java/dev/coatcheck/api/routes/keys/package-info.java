/** Keys by themselves over HTTP: new keys, the keys of a span of time, and who makes them. */
@NullMarked
package dev.coatcheck.api.routes.keys;

import org.jspecify.annotations.NullMarked;
