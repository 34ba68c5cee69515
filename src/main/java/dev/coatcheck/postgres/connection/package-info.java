/** Connections to Postgres: how they are made, lent, bounded by a deadline and broken off. */
@NullMarked
package dev.coatcheck.postgres.connection;

import org.jspecify.annotations.NullMarked;
