package dev.coatcheck.cluster.lease;

import dev.coatcheck.Breakage;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.util.Arrays;

/** The ways to lease that look right and are not. */
enum Defect {
  NONE(""),
  /** Minting goes on after the end of the window. */
  WINDOW_IGNORED("window-ignored"),
  /** A window begins within a tick, which the window before has. */
  TICK_SHARED("tick-shared"),
  /** The estimate of the database's time stays where the acquire put it. */
  BASE_FIXED("base-fixed"),
  /** A renewal names the worker only. */
  RENEW_WITHOUT_EPOCH("renew-without-epoch"),
  /** A worker that is registered after a failover is free at once. */
  REGISTERED_WITHOUT_REST("registered-without-rest"),
  /** A database is known by its timeline only. */
  SYSTEM_IGNORED("system-ignored"),
  /** Time is counted on the wall clock. */
  WALL_CLOCK("wall-clock");

  private final String id;

  Defect(String id) {
    this.id = id;
  }

  String id() {
    return id;
  }

  static Defect current() {
    return named(Breakage.current());
  }

  static Defect named(String id) {
    return Arrays.stream(values()).filter(defect -> defect.id.equals(id)).findFirst().orElseThrow();
  }

  /** The conditions of the statements, with this defect in them. */
  LeaseStatements.Conditions conditions() {
    LeaseStatements.Conditions kept = LeaseStatements.Conditions.KEPT;
    return new LeaseStatements.Conditions(
        this == RENEW_WITHOUT_EPOCH ? "l.expires_at > m.at" : kept.renewable(),
        this == REGISTERED_WITHOUT_REST ? "true" : kept.neverLost());
  }

  /** The rules with this defect in them. */
  LeaseRules rules() {
    return new LeaseRules() {
      @Override
      long lastMillis(long untilMillis, long estimateMillis) {
        return super.lastMillis(
            Defect.this == WINDOW_IGNORED ? Long.MAX_VALUE : untilMillis, estimateMillis);
      }

      @Override
      long firstPosition(SnowflakeLayout layout, long millis) {
        return Defect.this == TICK_SHARED
            ? layout.position(millis + 1)
            : super.firstPosition(layout, millis);
      }

      @Override
      ClockEstimate renewed(
          ClockEstimate before, long nowMillis, long sentNano, long receivedNano) {
        return Defect.this == BASE_FIXED
            ? before
            : super.renewed(before, nowMillis, sentNano, receivedNano);
      }
    };
  }
}
