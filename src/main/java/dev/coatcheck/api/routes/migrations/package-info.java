/** Table migrations over HTTP: plans, actions, events, files. */
@NullMarked
package dev.coatcheck.api.routes.migrations;

import org.jspecify.annotations.NullMarked;
