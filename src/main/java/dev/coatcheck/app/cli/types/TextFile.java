package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.Output;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A file that appears when it is complete. */
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
      if (Output.isSpecial(target)) {
        Files.writeString(target, text);
        return;
      }
      Path folder = target.toAbsolutePath().getParent();
      if (folder != null) {
        Files.createDirectories(folder);
      }
      Path part = target.resolveSibling(target.getFileName() + ".part");
      Files.writeString(part, text);
      Files.move(part, target, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException unwritable) {
      throw new CommandFailed("can't write " + target + ": " + unwritable.getMessage());
    }
  }
}
