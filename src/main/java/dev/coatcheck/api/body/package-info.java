/**
 * Bodies that take their time: collected within a memory budget, or read and written at a minimum
 * rate.
 */
@NullMarked
package dev.coatcheck.api.body;

import org.jspecify.annotations.NullMarked;
