package dev.coatcheck.key;

import java.util.List;
import java.util.function.IntFunction;

/** A run of positions that belongs to one worker, or the reason why there is none. */
public sealed interface KeyRun {
  record Some(long firstPosition, int worker) implements KeyRun {}

  record None(String reason, long retryAfterMillis) implements KeyRun {}

  /**
   * Draws keys in runs of at most {@code chunk}. A refusal after the first run drops what was drawn
   * so far: gaps cost nothing, half a draw would.
   */
  static KeyDraw draw(int count, long chunk, SnowflakeLayout layout, IntFunction<KeyRun> source) {
    Key[] keys = new Key[count];
    int done = 0;
    while (done < count) {
      int part = (int) Math.min(count - done, chunk);
      switch (source.apply(part)) {
        case Some(long first, int worker) -> {
          for (int i = 0; i < part; i++) {
            keys[done++] = new Key.Bigint(layout.key(first + i, worker));
          }
        }
        case None(String reason, long retryAfterMillis) -> {
          return new KeyDraw.Refused(reason, retryAfterMillis);
        }
      }
    }
    return new KeyDraw.Drawn(List.of(keys));
  }
}
