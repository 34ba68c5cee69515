package dev.coatcheck;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the classes {@code …Fuzz} share. Each gives any text to readers of strangers' texts. */
public final class FuzzTexts {
  private FuzzTexts() {}

  /** Writes texts to begin with, each into a file of its own. */
  public static void write(String folder, String... texts) throws IOException {
    Path into = Files.createDirectories(Path.of(folder));
    for (int i = 0; i < texts.length; i++) {
      Files.writeString(into.resolve("text-" + i), texts[i]);
    }
  }

  /** What is accepted is written back as the same text. */
  public static void requireSame(Object text, Object written) {
    if (!text.equals(written)) {
      throw new AssertionError("\"%s\" is written as \"%s\"".formatted(text, written));
    }
  }
}
