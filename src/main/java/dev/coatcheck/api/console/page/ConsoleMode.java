package dev.coatcheck.api.console.page;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** Whether there is a console, and whether people can change anything with it. */
public enum ConsoleMode {
  OFF,
  READ_ONLY,
  ON;

  /** As in the settings: {@code off}, {@code read-only}, {@code on}. */
  public static Optional<ConsoleMode> named(String name) {
    return Arrays.stream(values()).filter(mode -> mode.settingName().equals(name)).findFirst();
  }

  private String settingName() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
