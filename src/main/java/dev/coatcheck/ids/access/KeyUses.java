package dev.coatcheck.ids.access;

import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which API keys were used since the last minute. They are written once a minute and at shutdown; a
 * kill loses the last minute. It holds one entry for each used key; unknown keys are not recorded.
 */
final class KeyUses implements AutoCloseable {
  private static final Duration PERIOD = Duration.ofSeconds(60);

  /** Rows of one statement. */
  private static final int WRITTEN_MAX = 1_000;

  private final Map<String, KnownKey> used = new ConcurrentHashMap<>();
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

  /** For each request: a look at the key, unless nobody used it since the last writing. */
  void note(KnownKey key) {
    if (key.markUsed()) {
      used.put(key.keyId(), key);
    }
  }

  /** Writes what was used, or keeps it for the next time. */
  void flush() {
    boolean _ = background.run(this::write);
  }

  private void write() {
    List<String> keyIds = new ArrayList<>(used.keySet());
    for (int from = 0; from < keyIds.size(); from += WRITTEN_MAX) {
      write(keyIds.subList(from, Math.min(keyIds.size(), from + WRITTEN_MAX)));
    }
  }

  private void write(List<String> keyIds) {
    // Marked before the statement, so that a use during it counts for the next time.
    List<KnownKey> keys = keyIds.stream().map(used::remove).filter(Objects::nonNull).toList();
    keys.forEach(KnownKey::markUnused);
    try {
      store.use(keyIds);
    } catch (RuntimeException notWritten) {
      keys.forEach(this::note);
      throw notWritten;
    }
  }

  @Override
  public void close() {
    background.stop();
    Deadline.ofLastWrite().run(this::flush);
  }
}
