package dev.coatcheck.cluster.lease;

import dev.coatcheck.Breakage;
import java.util.Arrays;

/** The ways to lease that look right and are not. */
enum Defect {
  NONE(""),
  /** Minting goes on after the end of the window. */
  WINDOW_IGNORED("window-ignored"),
  /** The estimate of the database's time stays where the acquire put it. */
  BASE_FIXED("base-fixed"),
  /** A renewal names the worker only. */
  RENEW_WITHOUT_EPOCH("renew-without-epoch"),
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

  /** The condition of a renewal, with this defect in it. */
  String renewMatch() {
    return this == RENEW_WITHOUT_EPOCH ? "l.expires_at > m.at" : LeaseStatements.RENEW_MATCH;
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
      Estimate renewed(Estimate before, long nowMillis, long sentNano, long receivedNano) {
        return Defect.this == BASE_FIXED
            ? before
            : super.renewed(before, nowMillis, sentNano, receivedNano);
      }
    };
  }
}
