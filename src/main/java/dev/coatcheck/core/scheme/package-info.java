/** Keys of further schemes, which types can't have: ULIDs, KSUIDs, snos, RocketMQ. */
@NullMarked
package dev.coatcheck.core.scheme;

import org.jspecify.annotations.NullMarked;
