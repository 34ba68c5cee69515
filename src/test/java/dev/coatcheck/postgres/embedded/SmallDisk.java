package dev.coatcheck.postgres.embedded;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.opentest4j.TestAbortedException;

/** A file system in memory that can be filled to its last byte. It goes with the test. */
public final class SmallDisk implements AutoCloseable {
  private static final int BLOCK_BYTES = 4_096;

  private final Path folder;

  private SmallDisk(Path folder) {
    this.folder = folder;
  }

  /** Skips the test where nothing may be mounted. */
  public static SmallDisk mount(int megabytes) throws IOException {
    Path folder = Files.createTempDirectory("coatcheck-disk-");
    String refused =
        run("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m", "tmpfs", folder.toString());
    if (!refused.isEmpty()) {
      Files.delete(folder);
      throw new TestAbortedException("a small disk needs the right to mount: " + refused);
    }
    return new SmallDisk(folder);
  }

  /** For one user alone, as Postgres wants it. */
  public Path folder(String name) throws IOException {
    return Files.createDirectory(
        folder.resolve(name),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  /** Until not one block is left. */
  public void fill() throws IOException {
    byte[] block = new byte[BLOCK_BYTES];
    try (OutputStream out = Files.newOutputStream(ballast())) {
      while (true) {
        out.write(block);
      }
    } catch (IOException full) {
      if (Files.getFileStore(folder).getUsableSpace() > 0) {
        throw full;
      }
    }
  }

  /** The disk has room again. */
  public void free() throws IOException {
    Files.delete(ballast());
  }

  private Path ballast() {
    return folder.resolve("ballast");
  }

  private static String run(String... command) throws IOException {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      return process.waitFor() == 0 ? "" : output.isEmpty() ? "it failed" : output;
    } catch (InterruptedException hurried) {
      Thread.currentThread().interrupt();
      throw new IOException(hurried);
    }
  }

  @Override
  public void close() throws IOException {
    String refused = run("umount", "--lazy", folder.toString());
    if (!refused.isEmpty()) {
      throw new IOException(refused);
    }
    Files.delete(folder);
  }
}
