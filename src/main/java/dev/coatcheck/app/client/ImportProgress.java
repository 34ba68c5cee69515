package dev.coatcheck.app.client;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The progress of an import, kept beside its file until its end.
 *
 * @param url of the gateway that the file goes to
 * @param size of the file, which must not change meanwhile
 * @param modifiedMillis when the file was last changed
 * @param offset where the next part begins
 * @param lines how many lines lie before it
 * @param rejectedBytes how much of the file of rejected rows belongs to the parts before
 * @param reasonsBytes as much, of the file with the reasons
 */
record ImportProgress(
    String url,
    long size,
    long modifiedMillis,
    long offset,
    long lines,
    long created,
    long existing,
    long refused,
    long rejectedBytes,
    long reasonsBytes) {
  private static final JsonMapper JSON = new JsonMapper();

  static ImportProgress none(String url, Path file) throws IOException {
    return new ImportProgress(
        url, Files.size(file), Files.getLastModifiedTime(file).toMillis(), 0, 0, 0, 0, 0, 0, 0);
  }

  static Path fileBeside(Path file) {
    return file.resolveSibling(file.getFileName() + ".coatcheck-resume");
  }

  /** What an import that was stopped left behind. */
  static Optional<ImportProgress> load(Path file) throws IOException, CommandFailed {
    Path saved = fileBeside(file);
    if (!Files.exists(saved)) {
      return Optional.empty();
    }
    try {
      return Optional.of(JSON.readValue(Files.readAllBytes(saved), ImportProgress.class));
    } catch (JacksonException damaged) {
      throw new CommandFailed(
          "can't read "
              + saved
              + ". Delete it to import the file from its first line; imported rows count as"
              + " existing.");
    }
  }

  /** Whether it is about the same file and gateway. */
  boolean continues(ImportProgress begun) {
    return url.equals(begun.url) && size == begun.size && modifiedMillis == begun.modifiedMillis;
  }

  /** Appears whole or not at all, whenever this process is killed. */
  void save(Path file) throws IOException {
    Path saved = fileBeside(file);
    Path draft = saved.resolveSibling(saved.getFileName() + ".new");
    Files.write(draft, JSON.writeValueAsBytes(this));
    Files.move(draft, saved, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
  }
}
