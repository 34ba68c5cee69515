/** The proof that each row has its one key and its one public ID. */
@NullMarked
package dev.coatcheck.migrate.verify;

import org.jspecify.annotations.NullMarked;
