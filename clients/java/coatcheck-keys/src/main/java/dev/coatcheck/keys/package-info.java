/**
 * Snowflake keys and UUIDv7 made in the process of an application: {@code coatcheck-keys}.
 *
 * <p>Begin with {@link dev.coatcheck.keys.Snowflakes}. Other packages of this library are not part
 * of its API.
 */
@NullMarked
package dev.coatcheck.keys;

import org.jspecify.annotations.NullMarked;
