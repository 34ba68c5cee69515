/** The verbs of table migrations. */
@NullMarked
package dev.coatcheck.app.cli.migrate;

import org.jspecify.annotations.NullMarked;
