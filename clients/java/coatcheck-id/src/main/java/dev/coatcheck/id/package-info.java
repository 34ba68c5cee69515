/**
 * Public IDs as types of an application: a class says its prefix, and {@code PublicId<Charge>}
 * holds nothing but public IDs of charges. Nothing here asks a gateway or a database.
 *
 * <p>This package is the API of the library. {@code dev.coatcheck.core} is not, and changes without
 * notice.
 */
@NullMarked
package dev.coatcheck.id;

import org.jspecify.annotations.NullMarked;
