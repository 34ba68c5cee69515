/** How loaded a source is, and how far a run makes way for its other work. */
@NullMarked
package dev.coatcheck.migrate.throttle;

import org.jspecify.annotations.NullMarked;
