package dev.coatcheck.app.boot;

import dev.coatcheck.core.file.FileWords;
import dev.coatcheck.core.file.InputFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A password in a file, as Docker and Kubernetes mount secrets: one line of UTF-8. */
sealed interface PasswordFile {
  int BYTES_MAX = 4_096;

  record Read(String password) implements PasswordFile {
    @Override
    public String toString() {
      return "Read[password=…]";
    }
  }

  /**
   * The file can't be used.
   *
   * @param why follows the name of the setting; never contains text of the file
   */
  record Refused(String why) implements PasswordFile {}

  /** Reads the password, without the line end. */
  static PasswordFile read(Path file) {
    String text;
    try {
      text = new String(InputFile.read(file, BYTES_MAX), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      return new Refused(
          "names %s, which can't be read: %s".formatted(file, FileWords.why(unreadable)));
    }
    String password = text.replaceFirst("\\r?\\n\\z", "");
    if (password.isEmpty()) {
      return new Refused("names an empty file: " + file);
    }
    if (password.contains("\n")) {
      return new Refused("names a file of more than one line: " + file);
    }
    return new Read(password);
  }
}
