package dev.coatcheck.postgres.embedded;

import dev.coatcheck.postgres.sql.TestServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A home that has never been used, and goes with the test. The programs of Postgres are a link to
 * those of other tests, so that they aren't unpacked again.
 */
public record TestHome(Path path) implements AutoCloseable {
  public static TestHome fresh() {
    try {
      Path programs = Files.createDirectories(TestServer.PROGRAMS).toAbsolutePath();
      Path folder = Files.createTempDirectory(programs.getParent(), "home-");
      Path home = Files.createDirectory(folder.resolve(".coatcheck"));
      Files.createSymbolicLink(home.resolve("postgres"), programs);
      return new TestHome(home);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Where the home is {@code .coatcheck}. */
  public Path folder() {
    return path.resolveSibling(".").normalize();
  }

  @Override
  public void close() {
    delete(folder());
  }

  /**
   * Ends the Postgres of a home that is deleted next, without the checkpoint of an orderly stop:
   * that syncs each file of each database, which takes up to a minute on a busy disk.
   */
  public static void endAtOnce(Path home) {
    try {
      Path file = home.resolve("data").resolve("postmaster.pid");
      String pid = Files.readAllLines(file).getFirst().strip();
      Optional<ProcessHandle> postmaster = ProcessHandle.of(Long.parseLong(pid));
      Process _ = new ProcessBuilder("kill", "-QUIT", pid).start();
      postmaster.ifPresent(process -> process.onExit().orTimeout(10, TimeUnit.SECONDS).join());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /**
   * Deletes a home that no process uses any more. Half of it must not be found by the next user of
   * its name, should this process be killed.
   */
  public static void delete(Path home) {
    if (!Files.exists(home)) {
      return;
    }
    try {
      FileTree.delete(away(home));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** The same by a program that nobody waits for: hundreds of databases are many files. */
  public static void deleteLater(Path home) {
    try {
      Process _ =
          new ProcessBuilder("rm", "-rf", away(home).toString())
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static Path away(Path home) throws IOException {
    return Files.move(
        home, home.resolveSibling(home.getFileName() + "-" + ProcessHandle.current().pid()));
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
