package dev.coatcheck;

import dev.coatcheck.app.cli.Cli;

/** The program. */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    System.exit(Cli.run(arguments));
  }
}
