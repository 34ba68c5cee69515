package dev.coatcheck.app.boot;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks the URL of a Postgres. The URL is printed, so it must not contain a password. */
final class DatabaseUrl {
  private static final Pattern SHAPE =
      Pattern.compile("jdbc:postgresql://[^/?\\s]+/[^?\\s]+(\\?.*)?");

  /** In front of the host it means nothing to the driver, but libpq takes it there. */
  private static final Pattern SECRET =
      Pattern.compile("[?&](ssl)?password=|^jdbc:postgresql://[^/?]*@");

  /**
   * The driver prefers these to the search path, the time-outs and the user that connections begin
   * with, and to the names by which a run finds the sessions of its earlier runners. Without a
   * value they are empty there.
   */
  private static final Pattern OVERRIDE =
      Pattern.compile(
          "[?&](options|currentSchema|user|ApplicationName"
              + "|connectTimeout|loginTimeout|socketTimeout)(?=[=&]|$)");

  private DatabaseUrl() {}

  static Optional<String> fault(String url, String passwordVariable) {
    if (SECRET.matcher(url).find()) {
      return Optional.of(
          "contains a password, and the URL is printed: move the password to " + passwordVariable);
    }
    if (!SHAPE.matcher(url).matches()) {
      return Optional.of("must look like jdbc:postgresql://host:5432/name");
    }
    Matcher override = OVERRIDE.matcher(url);
    return override.find()
        ? Optional.of("must not set " + override.group(1) + ": Coatcheck sets it itself")
        : Optional.empty();
  }
}
