package dev.coatcheck.bench.speed;

/** Hears how far a measurement is. */
@FunctionalInterface
public interface Progress {
  void advanced(long steps);
}
