package dev.coatcheck.bulk.rows;

import java.util.Locale;
import java.util.Optional;

/** The format of a file of mappings, with one mapping per line. */
public enum RowFormat {
  /** RFC 4180, after a line with the names of the columns. */
  CSV("text/csv"),
  /** A JSON object per line. */
  NDJSON("application/x-ndjson");

  private final String mediaType;

  RowFormat(String mediaType) {
    this.mediaType = mediaType;
  }

  /** The name in queries, and the extension of a file. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }

  public String mediaType() {
    return mediaType;
  }

  public static Optional<RowFormat> named(String wireName) {
    for (RowFormat format : values()) {
      if (format.wireName().equals(wireName)) {
        return Optional.of(format);
      }
    }
    return Optional.empty();
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
