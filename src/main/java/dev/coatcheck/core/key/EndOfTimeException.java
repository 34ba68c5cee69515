package dev.coatcheck.core.key;

import java.time.Instant;

/** The last millisecond of a layout is used up. The next key would be negative. */
public final class EndOfTimeException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  public EndOfTimeException(SnowflakeLayout layout) {
    super(
        "layout %s ended at %s; its types need another layout"
            .formatted(layout.name(), Instant.ofEpochMilli(layout.endMillis())));
  }
}
