package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.WholeFile;
import dev.coatcheck.core.file.FileWords;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file of source text or of types. */
final class TextFile {
  private TextFile() {}

  /**
   * Writes a text. A file that has it already keeps its time, so that no build takes it for new.
   */
  static void write(Path target, String text) throws CommandFailed {
    try {
      if (Files.isRegularFile(target) && Files.readString(target).equals(text)) {
        return;
      }
      WholeFile.write(target, new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    } catch (IOException unwritable) {
      throw new CommandFailed("can't write " + target + ": " + FileWords.why(unwritable));
    }
  }
}
