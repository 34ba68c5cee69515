/** The gateways on one database, and what each says of itself. */
@NullMarked
package dev.coatcheck.cluster.instance;

import org.jspecify.annotations.NullMarked;
