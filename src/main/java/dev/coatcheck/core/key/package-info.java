/** Internal keys: Snowflake layouts and generators, UUIDv7, and the time bounds of either. */
@NullMarked
package dev.coatcheck.core.key;

import org.jspecify.annotations.NullMarked;
