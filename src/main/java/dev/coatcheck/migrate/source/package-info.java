/** Customers' databases: how they are reached, named and spoken to, and how loaded they are. */
@NullMarked
package dev.coatcheck.migrate.source;

import org.jspecify.annotations.NullMarked;
