/** Names from elsewhere and where they lead: redirect targets, old numbers. */
@NullMarked
package dev.coatcheck.ids.redirect;

import org.jspecify.annotations.NullMarked;
