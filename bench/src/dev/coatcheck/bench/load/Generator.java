package dev.coatcheck.bench.load;

/** What sends the closed loops. Open loops are always sent by the generator of our own. */
public enum Generator {
  WRK,
  OWN;

  /** A name for people. */
  public String text() {
    return this == WRK ? "wrk" : "our own";
  }

  /** Whether it leaves nearly all of the machine to the server. */
  public boolean isCheap() {
    return this == WRK;
  }

  /** wrk, where it is installed. */
  public static Generator best() {
    return Wrk.isInstalled() ? WRK : OWN;
  }
}
