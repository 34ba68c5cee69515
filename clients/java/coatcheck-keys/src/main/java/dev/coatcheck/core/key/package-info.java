/** Internal keys: Snowflake layouts and generators, UUIDv7, and the time bounds of both. */
@NullMarked
package dev.coatcheck.core.key;

import org.jspecify.annotations.NullMarked;
