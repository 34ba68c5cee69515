package dev.coatcheck.postgres.embedded;

import dev.coatcheck.postgres.sql.TestServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

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
   * Deletes a home that no process uses any more. Half of it must not be found by the next user of
   * its name, should this process be killed.
   */
  public static void delete(Path home) {
    if (!Files.exists(home)) {
      return;
    }
    try {
      Path going = home.resolveSibling(home.getFileName() + "-" + ProcessHandle.current().pid());
      PostgresBinaries.deleteTree(Files.move(home, going));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
