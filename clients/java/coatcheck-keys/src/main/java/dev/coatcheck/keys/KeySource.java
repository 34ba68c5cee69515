package dev.coatcheck.keys;

import dev.coatcheck.core.key.KeyReservation;

/** Where the keys of a {@link Snowflakes} come from. Thread-safe. */
interface KeySource extends AutoCloseable {
  /** No key now; a short wait may help. */
  long NONE_NOW = -1;

  /** No key, and a short wait doesn't help; {@link #reserve} says why. */
  long NONE = -2;

  /**
   * A key, {@link #NONE_NOW} or {@link #NONE}. Never blocks, and allocates 40 bytes a millisecond
   * at most.
   */
  long key();

  /** Up to {@code count} positions. */
  KeyReservation reserve(int count);

  /** Waits for the source to be ready, if it may be at all; returns at once afterwards. */
  void awaitFirst();

  @Override
  void close();
}
