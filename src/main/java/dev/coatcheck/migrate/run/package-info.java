/** Runs of table migrations: plan, state, lease, throttle, progress. */
@NullMarked
package dev.coatcheck.migrate.run;

import org.jspecify.annotations.NullMarked;
