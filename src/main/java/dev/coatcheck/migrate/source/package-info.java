/** Customers' databases: connections, sessions, names, SQL, and their load. */
@NullMarked
package dev.coatcheck.migrate.source;

import org.jspecify.annotations.NullMarked;
