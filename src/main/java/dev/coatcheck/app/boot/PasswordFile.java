package dev.coatcheck.app.boot;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
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
  static PasswordFile read(String name) {
    byte[] content;
    try (InputStream file = opened(name)) {
      content = file.readNBytes(BYTES_MAX + 1);
    } catch (NoSuchFileException missing) {
      return new Refused("names a file that does not exist: " + name);
    } catch (AccessDeniedException denied) {
      return new Refused("names a file that this user may not read: " + name);
    } catch (IOException | InvalidPathException odd) {
      return new Refused("names something that is not a readable file: " + name);
    }
    if (content.length > BYTES_MAX) {
      return new Refused("names a file of more than " + BYTES_MAX + " bytes: " + name);
    }
    String password = new String(content, StandardCharsets.UTF_8).replaceFirst("\\r?\\n\\z", "");
    if (password.isEmpty()) {
      return new Refused("names an empty file: " + name);
    }
    if (password.contains("\n")) {
      return new Refused("names a file of more than one line: " + name);
    }
    return new Read(password);
  }

  private static InputStream opened(String name) throws IOException {
    Path path = Path.of(name);
    NamedPipe.refuse(path);
    return Files.newInputStream(path);
  }
}
