/** Statements and transactions on Postgres, and our schema. */
@NullMarked
package dev.coatcheck.postgres.sql;

import org.jspecify.annotations.NullMarked;
