/** What people ask of runs, and the runners that carry them on. */
@NullMarked
package dev.coatcheck.migrate.run;

import org.jspecify.annotations.NullMarked;
