/** Bodies that take time: collected within a memory budget, or transferred at a minimum rate. */
@NullMarked
package dev.coatcheck.api.body;

import org.jspecify.annotations.NullMarked;
