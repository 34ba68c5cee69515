/** Keys of further schemes, which are no keys of types: snos, and identifiers of RocketMQ. */
@NullMarked
package dev.coatcheck.core.scheme;

import org.jspecify.annotations.NullMarked;
