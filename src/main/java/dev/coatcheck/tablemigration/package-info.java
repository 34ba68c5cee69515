/** Runs of table migrations: plan, state, lease, throttle, progress. */
@NullMarked
package dev.coatcheck.tablemigration;

import org.jspecify.annotations.NullMarked;
