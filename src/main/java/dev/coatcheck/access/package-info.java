/** Who may call: API keys and their scopes. */
@NullMarked
package dev.coatcheck.access;

import org.jspecify.annotations.NullMarked;
