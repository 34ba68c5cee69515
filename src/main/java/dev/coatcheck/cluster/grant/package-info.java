/**
 * What Postgres grants for good: positions of keys for given times, and numbers of segments.
 *
 * <p>A lease grants the present, so after a failover time alone makes lost leases harmless. These
 * grants never end, so a lost grant can't be waited out: after a failover a fence refuses new
 * grants until an operator opens it.
 */
@NullMarked
package dev.coatcheck.cluster.grant;

import org.jspecify.annotations.NullMarked;
