/** ULIDs and KSUIDs: identifiers that are texts, for systems that expect them. */
@NullMarked
package dev.coatcheck.core.text;

import org.jspecify.annotations.NullMarked;
