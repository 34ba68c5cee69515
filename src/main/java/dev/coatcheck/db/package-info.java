/** Postgres: the pool and its transactions, the schema, and the embedded Postgres. */
@NullMarked
package dev.coatcheck.db;

import org.jspecify.annotations.NullMarked;
