/** What a customer's table is made of, and what stands in the way of a new key. */
@NullMarked
package dev.coatcheck.migrate.inspect;

import org.jspecify.annotations.NullMarked;
