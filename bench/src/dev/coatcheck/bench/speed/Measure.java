package dev.coatcheck.bench.speed;

import java.util.EnumSet;
import java.util.Set;

/** The measures of the table. Each is a ratio to a baseline of the same run. */
public enum Measure {
  P1("cached redirect"),
  P2("cached resolve"),
  P3("uncached resolve"),
  P4("mint, one per request"),
  P5("batch mint of 1,000"),
  P6("CSV import"),
  P7("backfill"),
  P8("uncached resolve");

  private final String what;

  Measure(String what) {
    this.what = what;
  }

  String what() {
    return what;
  }

  /** Those that need a gateway over HTTP and may be taken on any database. */
  public static Set<Measure> ofRequests() {
    return EnumSet.of(P1, P2, P3, P4, P5, P8);
  }
}
