package dev.coatcheck.postgres.group;

/**
 * Another transaction wrote a name between the look and the write of this one. Everything was
 * rolled back; the next look finds what the other one wrote.
 */
public final class LostRace extends RuntimeException {
  /** For a lost race about {@code what}, such as a key. */
  public LostRace(String what) {
    super(what, null, false, false);
  }
}
