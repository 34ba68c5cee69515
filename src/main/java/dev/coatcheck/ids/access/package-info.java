/** Who may call: API keys and their scopes. */
@NullMarked
package dev.coatcheck.ids.access;

import org.jspecify.annotations.NullMarked;
