package dev.coatcheck.ids.access;

import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which API keys were used since the last minute. They are written once a minute and at shutdown; a
 * kill loses the last minute. It holds one entry for each used key; unknown keys are not recorded.
 */
final class KeyUses implements AutoCloseable {
  private static final Duration PERIOD = Duration.ofSeconds(60);

  /** Rows of one statement. */
  private static final int WRITTEN_MAX = 1_000;

  private final Map<String, Boolean> used = new ConcurrentHashMap<>();
  private final AccessStore store;
  private final Background background;

  KeyUses(AccessStore store, Observer observer) {
    this.store = store;
    this.background = new Background("key-uses", observer);
  }

  /** Begins to write. */
  KeyUses started() {
    background.every(PERIOD, this::write);
    return this;
  }

  /** For each request: one look at a map, unless the key is used for the first time in a minute. */
  void note(String keyId) {
    used.putIfAbsent(keyId, true);
  }

  /** Writes what was used, or keeps it for the next time. */
  void flush() {
    boolean _ = background.run(this::write);
  }

  private void write() {
    List<String> keyIds = new ArrayList<>(used.keySet());
    for (int from = 0; from < keyIds.size(); from += WRITTEN_MAX) {
      List<String> some = keyIds.subList(from, Math.min(keyIds.size(), from + WRITTEN_MAX));
      store.use(some);
      some.forEach(used::remove);
    }
  }

  @Override
  public void close() {
    background.stop();
    Deadline.ofLastWrite().run(this::flush);
  }
}
