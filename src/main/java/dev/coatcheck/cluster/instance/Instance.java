package dev.coatcheck.cluster.instance;

import java.time.Duration;
import java.time.Instant;

/**
 * A gateway, as it said of itself.
 *
 * @param holder host and process, as in the leases of workers
 * @param address of its public port
 * @param unseen since it last said so, by the clock of Postgres
 * @param feedSilent how long ago it had then heard from the change feed
 */
public record Instance(
    String holder,
    String version,
    String address,
    Instant startedAt,
    Duration unseen,
    Duration feedSilent) {

  /** What a gateway knows of itself, and doesn't change. */
  record Self(String holder, String version, String address, Instant startedAt) {}
}
