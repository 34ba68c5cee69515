/** The HTTP surface: parse, call one verb, turn its outcome into a status. */
@NullMarked
package dev.coatcheck.http;

import org.jspecify.annotations.NullMarked;
