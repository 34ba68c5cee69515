package dev.coatcheck.cluster.lease;

/** Who leases, and how requests reach the database. */
enum LeasedMode {
  /** A gateway. */
  GATEWAY(false, 78),
  /** A library, straight from Postgres. */
  DIRECT(true, 78),
  /** A library, through a gateway, which may stand still with a request in its hands. */
  HTTP(true, 2 * 75 + 3);

  /** Whether a wall clock that runs ahead of the monotonic one closes the window. */
  final boolean watchesWallClock;

  /** A reply proves the time to within its own delay, plus a second's drift. */
  final long behindMillisMax;

  LeasedMode(boolean watchesWallClock, long behindMillisMax) {
    this.watchesWallClock = watchesWallClock;
    this.behindMillisMax = behindMillisMax;
  }
}
