/** One class of routes per capability: parse, call one verb, turn its outcome into an answer. */
@NullMarked
package dev.coatcheck.api.routes;

import org.jspecify.annotations.NullMarked;
