/** The files that settings and options name. */
@NullMarked
package dev.coatcheck.core.file;

import org.jspecify.annotations.NullMarked;
