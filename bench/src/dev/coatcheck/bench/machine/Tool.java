package dev.coatcheck.bench.machine;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** A program that the machine may have, as wrk, nginx and pgbench. */
public final class Tool {
  /** Debian's nginx lies where the PATH of an ordinary user doesn't lead. */
  private static final List<String> MORE = List.of("/usr/local/sbin", "/usr/sbin");

  private final Optional<Path> path;

  private Tool(Optional<Path> path) {
    this.path = path;
  }

  public static Tool named(String name) {
    String folders = Optional.ofNullable(System.getenv("PATH")).orElse("");
    return new Tool(
        Stream.concat(Arrays.stream(folders.split(File.pathSeparator)), MORE.stream())
            .map(folder -> Path.of(folder, name))
            .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
            .findFirst());
  }

  public boolean isInstalled() {
    return path.isPresent();
  }

  /** Where the program is. */
  public Path path() {
    return path.orElseThrow();
  }

  /** Runs a command to its end, and returns what it printed. */
  public static String output(List<String> command) {
    return output(command, Map.of());
  }

  /**
   * As above.
   *
   * @param environment variables beside those of this process
   * @throws MeasureFailed with the output, if the command fails
   */
  public static String output(List<String> command, Map<String, String> environment) {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    try {
      Process process = ChildProcess.start(builder);
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      int status = process.waitFor();
      if (status != 0) {
        throw new MeasureFailed(
            command.getFirst() + " failed with status " + status + ": " + output.strip());
      }
      return output;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", stopped);
    }
  }
}
