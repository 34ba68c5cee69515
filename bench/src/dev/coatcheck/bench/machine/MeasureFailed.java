package dev.coatcheck.bench.machine;

/** A measurement could not be taken; the message says why, for people. */
public final class MeasureFailed extends RuntimeException {
  public MeasureFailed(String message) {
    super(message);
  }
}
