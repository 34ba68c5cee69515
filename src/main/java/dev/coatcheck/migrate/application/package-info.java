/** What applications do with a customer's table, and what they have to be ready for. */
@NullMarked
package dev.coatcheck.migrate.application;

import org.jspecify.annotations.NullMarked;
