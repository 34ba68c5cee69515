/**
 * Leased workers: the right to a worker of a Snowflake layout for a granted span of database time.
 *
 * <p>A window, not the number, is what is owned. Each (layout, worker, millisecond) is granted at
 * most once, so two gateways cannot make one key whatever clocks, pauses and crashes do. Time only
 * decides how close a key's millisecond is to the truth.
 */
@NullMarked
package dev.coatcheck.cluster.lease;

import org.jspecify.annotations.NullMarked;
