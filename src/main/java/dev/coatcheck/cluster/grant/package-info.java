/**
 * What Postgres grants for good: positions of keys with a time of the caller's, and numbers of
 * segments.
 *
 * <p>A lease grants the present, so after a failover time alone makes lost grants harmless. These
 * grants never end, so a lost one can't be waited out: after a failover a fence refuses new grants
 * until an operator has said how to go on.
 */
@NullMarked
package dev.coatcheck.cluster.grant;

import org.jspecify.annotations.NullMarked;
