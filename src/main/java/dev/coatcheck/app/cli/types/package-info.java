/** Types as code: a file of types, how a gateway differs from it, and source text made of it. */
@NullMarked
package dev.coatcheck.app.cli.types;

import org.jspecify.annotations.NullMarked;
