package dev.coatcheck.cluster.lease;

import java.time.Instant;

/** A worker that no instance can acquire at the moment, and why. */
public record WorkerState(String layout, int worker, Standing standing) {
  public sealed interface Standing {
    /** The name of the instance that holds the worker, or held it last; empty if none ever did. */
    String holder();

    record Held(String holder, Instant expiresAt, Instant grantedUntil) implements Standing {}

    /** Free again once its time has passed {@code until}. */
    record Resting(String holder, Instant until) implements Standing {}
  }
}
