/** What the gateway is measured against: nginx, pgbench, plain JDBC and COPY. */
@NullMarked
package dev.coatcheck.bench.baseline;

import org.jspecify.annotations.NullMarked;
