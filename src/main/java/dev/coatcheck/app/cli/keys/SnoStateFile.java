package dev.coatcheck.app.cli.keys;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.core.scheme.SnoShare;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;

/**
 * The state file of a writer of snos. The file is locked until it is closed. No other state in its
 * folder has the same sequence numbers of the same partition.
 */
final class SnoStateFile implements AutoCloseable {
  /** Enough for the first line of a state. */
  private static final int START_LENGTH = 1_000;

  private final Path path;
  private final FileChannel file;
  private final String text;

  private SnoStateFile(Path path, FileChannel file, String text) {
    this.path = path;
    this.file = file;
    this.text = text;
  }

  /**
   * @param fresh the share for a new file; an existing file may have another one
   * @param firstLine of a new file
   */
  static SnoStateFile open(Path path, SnoShare fresh, String firstLine)
      throws IOException, CommandFailed {
    FileChannel file;
    try {
      file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
    } catch (NoSuchFileException missing) {
      return create(path, fresh, firstLine);
    }
    try {
      lock(path, file);
      String text = text(file, file.size());
      if (text.isEmpty()) {
        throw new CommandFailed(
            "the state %s is empty. If no sno was ever made with it, delete it; else name another file and another partition."
                .formatted(path));
      }
      SnoStateFile opened = new SnoStateFile(path, file, text);
      opened.requireOwnNumbers(opened.share());
      return opened;
    } catch (IOException | CommandFailed | RuntimeException failed) {
      file.close();
      throw failed;
    }
  }

  private static SnoStateFile create(Path path, SnoShare fresh, String firstLine)
      throws IOException, CommandFailed {
    FileChannel file;
    try {
      file =
          FileChannel.open(
              path,
              StandardOpenOption.CREATE_NEW,
              StandardOpenOption.READ,
              StandardOpenOption.WRITE);
    } catch (NoSuchFileException noFolder) {
      throw new CommandFailed(
          "the folder of the state " + path + " doesn't exist. Make it, or name another file.");
    } catch (FileAlreadyExistsException justMade) {
      throw busy(path);
    }
    SnoStateFile created = new SnoStateFile(path, file, firstLine + "\n");
    try {
      lock(path, file);
      // Written before the other files are read: if two are created at once, one sees the other.
      created.write(0, created.text);
      created.requireOwnNumbers(fresh);
      return created;
    } catch (IOException | CommandFailed | RuntimeException failed) {
      Files.deleteIfExists(path);
      file.close();
      throw failed;
    }
  }

  private static void lock(Path path, FileChannel file) throws IOException, CommandFailed {
    try {
      FileLock lock = file.tryLock();
      if (lock != null) {
        return;
      }
    } catch (OverlappingFileLockException taken) {
      // Locked by this process, which is the same as by another one.
    }
    throw busy(path);
  }

  private static CommandFailed busy(Path path) {
    return new CommandFailed("another command uses the state " + path + ". Try again.");
  }

  /** The complete lines. An incomplete last line, from a command that was killed, is dropped. */
  List<String> lines() {
    return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
  }

  /** The share that the state belongs to. */
  SnoShare share() throws CommandFailed {
    return SnoShare.startOf(text).orElseThrow(this::broken);
  }

  CommandFailed broken() {
    return new CommandFailed("the file " + path + " is no state of snos. Name another file.");
  }

  /**
   * Overwrites the only line of a state in place, within one disk block: a crash leaves the old
   * line or the new one. The rest of a longer old line is not a line of the state.
   */
  void replace(String line) throws IOException {
    write(0, line + "\n");
  }

  /** Appends after the last complete line. An incomplete line is overwritten or ignored. */
  void add(List<String> lines) throws IOException {
    int end = text.substring(0, text.lastIndexOf('\n') + 1).getBytes(StandardCharsets.UTF_8).length;
    write(end, String.join("\n", lines) + "\n");
  }

  private void write(long position, String written) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(written.getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      file.write(bytes, position + bytes.position());
    }
    file.force(true);
  }

  private void requireOwnNumbers(SnoShare share) throws IOException, CommandFailed {
    try (DirectoryStream<Path> siblings =
        Files.newDirectoryStream(path.toAbsolutePath().resolveSibling(""))) {
      for (Path other : siblings) {
        // Closing any channel of a file releases its lock, so the own file is not read again.
        if (Files.isRegularFile(other)
            && Files.isReadable(other)
            && !Files.isSameFile(other, path)
            && SnoShare.startOf(start(other)).filter(share::overlaps).isPresent()) {
          throw new CommandFailed(
              "the state "
                  + other
                  + " has sequence numbers of "
                  + share
                  + " as well. Name another partition or other sequence numbers for one of them, or"
                  + " move a copy that is not in use to another folder.");
        }
      }
    } catch (DirectoryIteratorException unreadable) {
      throw unreadable.getCause();
    }
  }

  private static String start(Path other) throws IOException {
    try (FileChannel file = FileChannel.open(other, StandardOpenOption.READ)) {
      return text(file, Math.min(file.size(), START_LENGTH));
    } catch (NoSuchFileException gone) {
      return "";
    }
  }

  private static String text(FileChannel file, long length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(length));
    while (bytes.hasRemaining() && file.read(bytes, bytes.position()) >= 0) {
      // Try again.
    }
    return new String(Arrays.copyOf(bytes.array(), bytes.position()), StandardCharsets.UTF_8);
  }

  static CommandFailed failed(Path path, IOException failed) {
    String reason =
        failed instanceof FileSystemException file && file.getReason() != null
            ? file.getReason()
            : failed instanceof FileSystemException ? "access denied" : failed.getMessage();
    return new CommandFailed(
        "the state %s: %s. Name a file that you can read and write.".formatted(path, reason));
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
