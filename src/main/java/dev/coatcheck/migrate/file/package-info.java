/** Keys for tables on which nothing may be installed: from a file, in the order of creation. */
@NullMarked
package dev.coatcheck.migrate.file;

import org.jspecify.annotations.NullMarked;
