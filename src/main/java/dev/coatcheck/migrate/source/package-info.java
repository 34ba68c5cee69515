/** Customers' databases: where a table is, and how it is spoken to. */
@NullMarked
package dev.coatcheck.migrate.source;

import org.jspecify.annotations.NullMarked;
