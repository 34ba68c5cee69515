/** What is known of a run: its state, its goal, its steps and its progress. */
@NullMarked
package dev.coatcheck.migrate.state;

import org.jspecify.annotations.NullMarked;
