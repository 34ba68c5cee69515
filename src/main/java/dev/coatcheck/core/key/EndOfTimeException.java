package dev.coatcheck.core.key;

import java.time.Instant;

/**
 * A layout has used its last millisecond and generates no more keys; the next key would be
 * negative.
 */
public final class EndOfTimeException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  public EndOfTimeException(SnowflakeLayout layout) {
    super(
        "layout %s ended at %s; its types need another layout"
            .formatted(layout.name(), Instant.ofEpochMilli(layout.endMillis())));
  }
}
