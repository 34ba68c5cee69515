/** Keys of further schemes, which are no keys of types: ULIDs, KSUIDs, snos, RocketMQ. */
@NullMarked
package dev.coatcheck.core.scheme;

import org.jspecify.annotations.NullMarked;
