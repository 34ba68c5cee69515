package dev.coatcheck;

/** The program. */
public final class Main {
  private Main() {}

  public static void main(String[] args) {}
}
