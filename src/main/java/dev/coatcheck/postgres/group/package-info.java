/** Work that callers who come at the same time share: a statement, a transaction, a result. */
@NullMarked
package dev.coatcheck.postgres.group;

import org.jspecify.annotations.NullMarked;
