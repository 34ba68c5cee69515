/** What every request passes: listener, names, limits, admission, access, JSON in, problems out. */
@NullMarked
package dev.coatcheck.api.server;

import org.jspecify.annotations.NullMarked;
