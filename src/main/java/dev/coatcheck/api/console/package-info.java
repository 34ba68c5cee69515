/** The console: pages for people. Each page asks the verbs that the routes ask, and no SQL. */
@NullMarked
package dev.coatcheck.api.console;

import org.jspecify.annotations.NullMarked;
