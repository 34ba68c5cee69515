/** Runs of table migrations: their state, what people ask of them, and who carries them on. */
@NullMarked
package dev.coatcheck.migrate.run;

import org.jspecify.annotations.NullMarked;
