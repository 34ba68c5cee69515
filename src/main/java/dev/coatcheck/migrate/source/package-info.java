/** Customers' databases: where a table is, how it is spoken to, and how loaded it is. */
@NullMarked
package dev.coatcheck.migrate.source;

import org.jspecify.annotations.NullMarked;
