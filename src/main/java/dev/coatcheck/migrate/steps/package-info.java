/** What is put on a customer's table: number source, dual write, indexes and constraints. */
@NullMarked
package dev.coatcheck.migrate.steps;

import org.jspecify.annotations.NullMarked;
