package dev.coatcheck.bench.speed;

import dev.coatcheck.bench.report.Row;
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
  P8("uncached resolve"),
  P9("random token"),
  P10("public ID as text"),
  P11("Snowflake key"),
  P12("start to the first 200"),
  P13("resident memory"),
  P14("bytes of a stored mapping"),
  P17("rows into a large index"),
  P18("keys over HTTP"),
  P20("answers kept for Idempotency-Keys"),
  P21("cached resolve of an older public ID"),
  P22("statements of an idle gateway"),
  P23("one call of the command line");

  private final String what;

  Measure(String what) {
    this.what = what;
  }

  /** For people. */
  public String what() {
    return what;
  }

  /** Those that need a gateway over HTTP and may be taken on any database. */
  public static Set<Measure> ofRequests() {
    return EnumSet.of(P1, P2, P3, P4, P5, P8, P18, P21);
  }

  /** Those that take a minute each, and are no part of a quick run. */
  public static Set<Measure> ofMinutes() {
    return EnumSet.of(P11, P12, P17, P18);
  }

  /** The measure of a row. */
  public static Measure of(Row row) {
    return valueOf(row.name().split(" ", 2)[0]);
  }
}
