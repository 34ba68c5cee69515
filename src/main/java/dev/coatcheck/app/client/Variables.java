package dev.coatcheck.app.client;

import java.util.Optional;

/** The environment of the process. */
public final class Variables {
  private Variables() {}

  /** The value of a variable; one that is blank counts as unset. */
  public static Optional<String> get(String name) {
    return Optional.ofNullable(System.getenv(name)).filter(value -> !value.isBlank());
  }
}
