/** The embedded Postgres: its programs, its data directory, its postmaster. */
@NullMarked
package dev.coatcheck.postgres.embedded;

import org.jspecify.annotations.NullMarked;
