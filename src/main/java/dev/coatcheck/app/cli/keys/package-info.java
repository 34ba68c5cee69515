/** The verbs of keys by themselves, of segments and of snos. */
@NullMarked
package dev.coatcheck.app.cli.keys;

import org.jspecify.annotations.NullMarked;
