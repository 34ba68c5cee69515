/** What an old or new URL is answered, step by step. */
@NullMarked
package dev.coatcheck.api.console.links;

import org.jspecify.annotations.NullMarked;
