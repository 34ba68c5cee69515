/** Names from elsewhere and where they lead: redirect targets. */
@NullMarked
package dev.coatcheck.legacy;

import org.jspecify.annotations.NullMarked;
