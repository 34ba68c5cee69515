/** The spread of the large tables over the nodes of a Citus cluster. */
@NullMarked
package dev.coatcheck.postgres.distributed;

import org.jspecify.annotations.NullMarked;
