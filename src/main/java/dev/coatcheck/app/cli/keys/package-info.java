/** The commands for keys by themselves, segments and snos. */
@NullMarked
package dev.coatcheck.app.cli.keys;

import org.jspecify.annotations.NullMarked;
