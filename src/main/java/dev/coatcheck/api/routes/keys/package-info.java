/** Keys by themselves over HTTP: new keys, the keys of a span of time, and their workers. */
@NullMarked
package dev.coatcheck.api.routes.keys;

import org.jspecify.annotations.NullMarked;
