package dev.coatcheck.bench;

/** Hears how far a measurement is. */
@FunctionalInterface
public interface Progress {
  void advanced(long steps);
}
