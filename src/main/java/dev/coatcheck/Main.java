package dev.coatcheck;

import dev.coatcheck.app.cli.Cli;
import java.util.Locale;

/** The program. */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    // What is printed and written is read by programs: digits and days are the same everywhere.
    Locale.setDefault(Locale.ROOT);
    System.exit(Cli.run(arguments));
  }
}
