package dev.coatcheck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A copy of sources for Node in {@code target}, so that what npm and the compiler make lies beside
 * no source.
 */
record NodeProject(Path folder) {
  /** Begins the reason of a skip, which CI accepts: a distribution may have an older Node. */
  private static final String OLD_NODE = "no Node of version 20.19 or later: ";

  /** Below it Prisma refuses to run; the client itself asks for 20.3. */
  private static final int MAJOR = 20;

  private static final int MINOR = 19;

  private static final List<String> OUTPUTS =
      List.of("node_modules", "dist", "compiled", "generated");

  /** Skips the test where there is no Node that can run it. */
  static void requireNode() {
    for (String tool : List.of("node", "npm")) {
      assumeTrue(CoatcheckProgram.isInstalled(tool), tool + " is not installed");
    }
    String version = run(Path.of("."), Map.of(), "node", "--version").strip();
    String[] parts = version.replaceFirst("^v", "").split("\\.", -1);
    int major = Integer.parseInt(parts[0]);
    int minor = Integer.parseInt(parts[1]);
    assumeTrue(major > MAJOR || (major == MAJOR && minor >= MINOR), OLD_NODE + version);
  }

  /** A copy of the files below a folder that are no output, in an empty folder. */
  static NodeProject copy(Path from, Path to) throws IOException {
    Path folder = to.toAbsolutePath();
    deleteExcept(folder, "node_modules");
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path relative = from.relativize(file);
        if (OUTPUTS.stream().noneMatch(output -> contains(relative, output))) {
          Path copied = folder.resolve(relative);
          Files.createDirectories(copied.getParent());
          Files.copy(file, copied);
        }
      }
    }
    return new NodeProject(folder);
  }

  /**
   * Installs what the lock file says and runs no script of a package; skips the test where npm
   * reaches no registry.
   */
  void install() throws IOException {
    try {
      npm(
          "ci",
          "--ignore-scripts",
          "--no-audit",
          "--no-fund",
          "--prefer-offline",
          "--loglevel=error");
    } catch (AssertionError failed) {
      assumeTrue(reachesRegistry(), "npm reaches no registry");
      throw failed;
    }
  }

  /** The packages that it asks for by version, with their versions. */
  Map<String, String> versions() {
    Map<String, String> versions = new TreeMap<>();
    JsonNode asked = new JsonMapper().readTree(folder.resolve("package.json").toFile());
    for (String kind : List.of("dependencies", "devDependencies")) {
      asked
          .path(kind)
          .forEachEntry(
              (name, version) -> {
                if (!version.asString("").startsWith("file:")) {
                  versions.put(name, version.asString(""));
                }
              });
    }
    return versions;
  }

  String npm(String... arguments) {
    return run(folder, Map.of(), with("npm", arguments));
  }

  String node(Map<String, String> environment, String... arguments) {
    return run(folder, environment, with("node", arguments));
  }

  private static boolean reachesRegistry() throws IOException {
    Process view =
        new ProcessBuilder("npm", "view", "typescript@5.9", "version")
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      return view.waitFor(1, TimeUnit.MINUTES) && view.exitValue() == 0;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    } finally {
      view.destroyForcibly();
    }
  }

  private static boolean contains(Path path, String name) {
    for (Path part : path) {
      if (part.toString().equals(name)) {
        return true;
      }
    }
    return false;
  }

  /** What is installed stays, since npm replaces it by what the lock file says. */
  private static void deleteExcept(Path folder, String kept) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted((one, other) -> other.compareTo(one)).toList()) {
        if (!contains(folder.relativize(file), kept)
            && (!Files.isDirectory(file) || isEmpty(file))) {
          Files.delete(file);
        }
      }
    }
  }

  private static boolean isEmpty(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.findAny().isEmpty();
    }
  }

  private static String[] with(String program, String... arguments) {
    List<String> command = new ArrayList<>(List.of(program));
    command.addAll(List.of(arguments));
    return command.toArray(String[]::new);
  }

  /** What a program printed; one that fails is a failure. */
  private static String run(Path folder, Map<String, String> environment, String... command) {
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
      builder.environment().keySet().removeIf(name -> name.startsWith("COATCHECK_"));
      builder.environment().putAll(environment);
      Process process = builder.start();
      String output = new String(process.getInputStream().readAllBytes(), UTF_8);
      if (process.waitFor() != 0) {
        throw new AssertionError(String.join(" ", command) + " failed:\n" + output);
      }
      return output;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }
}
