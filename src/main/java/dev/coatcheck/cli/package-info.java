/** The command line: one class per verb. */
@NullMarked
package dev.coatcheck.cli;

import org.jspecify.annotations.NullMarked;
