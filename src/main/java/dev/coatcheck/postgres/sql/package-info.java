/** Postgres: the pool, its transactions and sessions, and our schema. */
@NullMarked
package dev.coatcheck.postgres.sql;

import org.jspecify.annotations.NullMarked;
