package dev.coatcheck.app.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The progress of an import, stored beside its file until the import is done.
 *
 * @param url of the gateway
 * @param size of the file, which must not change meanwhile
 * @param modifiedMillis the time of the file's last change
 * @param offset the start of the next part
 * @param lines how many lines precede it
 * @param rejectedBytes the length of the file of refused rows for the parts before
 * @param reasonsBytes the length of the file of their reasons
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

  /** Has no file, and so is never saved. */
  static ImportProgress ofStandardInput(String url) {
    return new ImportProgress(url, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  }

  static Path fileBeside(Path file) {
    return file.resolveSibling(file.getFileName() + ".coatcheck-resume");
  }

  static Optional<ImportProgress> load(Path file) throws IOException, CommandFailed {
    Path saved = fileBeside(file);
    if (!Files.exists(saved)) {
      return Optional.empty();
    }
    try {
      return Optional.of(JSON.readValue(Files.readAllBytes(saved), ImportProgress.class));
    } catch (JacksonException damaged) {
      throw new CommandFailed(
          "can't read %s. Delete it to import the file from its first line; imported rows count as existing."
              .formatted(saved));
    }
  }

  /** Whether it belongs to the same file and gateway. */
  boolean continues(ImportProgress begun) {
    return url.equals(begun.url) && size == begun.size && modifiedMillis == begun.modifiedMillis;
  }

  /** Saves atomically, even if this process is killed. */
  void save(Path file) throws IOException {
    WholeFile.write(fileBeside(file), new ByteArrayInputStream(JSON.writeValueAsBytes(this)));
  }
}
