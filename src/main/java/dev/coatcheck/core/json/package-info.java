/** JSON objects, read field by field and strictly. */
@NullMarked
package dev.coatcheck.core.json;

import org.jspecify.annotations.NullMarked;
