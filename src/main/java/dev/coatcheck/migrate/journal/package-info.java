/** What the gateway's database keeps of runs: their state, steps, events and leases. */
@NullMarked
package dev.coatcheck.migrate.journal;

import org.jspecify.annotations.NullMarked;
