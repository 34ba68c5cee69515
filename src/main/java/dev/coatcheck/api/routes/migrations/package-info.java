/** Table migrations over HTTP: what people ask of them, and what they see. */
@NullMarked
package dev.coatcheck.api.routes.migrations;

import org.jspecify.annotations.NullMarked;
