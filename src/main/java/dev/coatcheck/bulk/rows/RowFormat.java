package dev.coatcheck.bulk.rows;

import dev.coatcheck.core.name.WireNamed;
import java.util.Optional;

/** The format of a file of mappings, one per line. The wire name is also the file extension. */
public enum RowFormat implements WireNamed {
  /** RFC 4180, after a line with the names of the columns. */
  CSV("text/csv"),
  /** A JSON object per line. */
  NDJSON("application/x-ndjson");

  private final String mediaType;

  RowFormat(String mediaType) {
    this.mediaType = mediaType;
  }

  public String mediaType() {
    return mediaType;
  }

  public static Optional<RowFormat> ofMediaType(String mediaType) {
    for (RowFormat format : values()) {
      if (format.mediaType.equals(mediaType)) {
        return Optional.of(format);
      }
    }
    return Optional.empty();
  }
}
