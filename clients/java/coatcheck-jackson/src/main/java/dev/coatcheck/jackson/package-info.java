/** Public IDs in JSON, for Jackson 2 and Jackson 3. An application needs only one of them. */
@NullMarked
package dev.coatcheck.jackson;

import org.jspecify.annotations.NullMarked;
