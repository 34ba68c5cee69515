/** Public IDs of older systems that carry a number or a UUID: Hashids, Sqids, TypeID, UUID. */
@NullMarked
package dev.coatcheck.core.older;

import org.jspecify.annotations.NullMarked;
