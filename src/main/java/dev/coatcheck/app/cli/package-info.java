/** The command line: one class per verb. */
@NullMarked
package dev.coatcheck.app.cli;

import org.jspecify.annotations.NullMarked;
