/** What all pages of the console share: who sees them, their frame, forms, files and drawings. */
@NullMarked
package dev.coatcheck.api.console.page;

import org.jspecify.annotations.NullMarked;
