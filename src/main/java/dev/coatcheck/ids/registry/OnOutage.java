package dev.coatcheck.ids.registry;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What to do with a cached public ID in an outage of Postgres. */
public enum OnOutage {
  /** Serve it for a while: an ID that was revoked meanwhile may still work. */
  SERVE_STALE,
  /** Answer 503. */
  REFUSE;

  /** As it stands in the API and in the database. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static Optional<OnOutage> named(String wireName) {
    return Arrays.stream(values()).filter(each -> each.wireName().equals(wireName)).findFirst();
  }
}
