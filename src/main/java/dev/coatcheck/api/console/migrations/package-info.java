/** Table migrations: what they do, and what can be done to them. */
@NullMarked
package dev.coatcheck.api.console.migrations;

import org.jspecify.annotations.NullMarked;
