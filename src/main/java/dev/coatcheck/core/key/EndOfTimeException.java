package dev.coatcheck.core.key;

import java.time.Instant;

/** A layout has used its last millisecond: no more keys, ever, rather than a negative one. */
public final class EndOfTimeException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  public EndOfTimeException(SnowflakeLayout layout) {
    super(
        "layout %s ended at %s; its types need another layout"
            .formatted(layout.name(), Instant.ofEpochMilli(layout.endMillis())));
  }
}
