/** Making public IDs: many callers in one transaction, each request done once. */
@NullMarked
package dev.coatcheck.ids.mint;

import org.jspecify.annotations.NullMarked;
