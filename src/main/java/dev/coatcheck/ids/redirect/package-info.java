/** Redirects: targets of public IDs and legacy IDs. */
@NullMarked
package dev.coatcheck.ids.redirect;

import org.jspecify.annotations.NullMarked;
