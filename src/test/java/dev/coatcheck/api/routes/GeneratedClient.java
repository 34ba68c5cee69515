package dev.coatcheck.api.routes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.CoatcheckProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A client that a generator makes from the contract, compiled with two programs that use it. The
 * profile {@code clients} brings the generator and the libraries of the Java client.
 *
 * @param everyCall the command of the program that makes the calls of a file
 * @param tenThousand the command of the program that counts public IDs
 */
record GeneratedClient(Path folder, List<String> everyCall, List<String> tenThousand) {
  private static final Path TOOLS = Path.of("target", "tools", "clients").toAbsolutePath();
  private static final Path PROGRAMS = Path.of("src", "test", "resources", "clients");

  private static final Map<String, GeneratedClient> MADE = new HashMap<>();

  /** Made once, in {@code java} or {@code typescript}. */
  static GeneratedClient in(String language) {
    GeneratedClient made = MADE.get(language);
    if (made == null) {
      made = language.equals("java") ? java() : typescript();
      MADE.put(language, made);
    }
    return made;
  }

  private static GeneratedClient java() {
    Path folder = empty("java");
    generate(
        folder,
        "--generator-name=java",
        "--library=native",
        "--additional-properties=useJakartaEe=true");
    String libraries = TOOLS.resolve("libraries") + "/*";
    List<String> compiler =
        new ArrayList<>(
            List.of(
                jdk("javac"),
                "-proc:none",
                "-parameters",
                "-nowarn",
                "-d",
                "compiled",
                "-cp",
                libraries));
    compiler.addAll(javaFiles(folder));
    run(folder, compiler);
    List<String> program = List.of(jdk("java"), "-cp", "compiled:" + libraries);
    return new GeneratedClient(folder, with(program, "EveryCall"), with(program, "TenThousand"));
  }

  private static GeneratedClient typescript() {
    for (String tool : List.of("node", "npm")) {
      assumeTrue(CoatcheckProgram.isInstalled(tool), tool + " is not installed");
    }
    Path folder = empty("typescript");
    generate(folder, "--generator-name=typescript-fetch");
    run(folder, List.of("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"));
    run(folder, List.of("node", "node_modules/typescript/bin/tsc"));
    return new GeneratedClient(
        folder,
        List.of("node", "compiled/every-call.js"),
        List.of("node", "compiled/ten-thousand.js"));
  }

  /** What one of the programs prints. */
  String output(List<String> program, String... arguments) {
    return run(folder, with(program, arguments));
  }

  /** The generated APIs of the Java client, a file each. */
  Path javaApis() {
    return folder.resolve("client/src/main/java/org/openapitools/client/api");
  }

  private static void generate(Path folder, String... options) {
    run(
        folder,
        with(
            List.of(jdk("java"), "-jar", TOOLS.resolve("openapi-generator.jar").toString()),
            with(
                    List.of(
                        "generate",
                        "--input-spec=" + Path.of("openapi", "coatcheck.yaml").toAbsolutePath(),
                        "--output=client",
                        "--global-property=apiDocs=false,apiTests=false,modelDocs=false,modelTests=false"),
                    options)
                .toArray(String[]::new)));
  }

  /** A folder with the programs in a language, and nothing else. */
  private static Path empty(String language) {
    Path folder = Path.of("target", "clients", language).toAbsolutePath();
    try {
      if (Files.exists(folder)) {
        try (Stream<Path> old = Files.walk(folder)) {
          for (Path file : old.sorted(Comparator.reverseOrder()).toList()) {
            Files.delete(file);
          }
        }
      }
      Files.createDirectories(folder);
      try (Stream<Path> programs = Files.list(PROGRAMS.resolve(language))) {
        for (Path program : programs.toList()) {
          Files.copy(program, folder.resolve(program.getFileName()));
        }
      }
      return folder;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static List<String> javaFiles(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(file -> !file.startsWith(folder.resolve("client/src/test")))
          .map(Path::toString)
          .filter(file -> file.endsWith(".java"))
          .toList();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static String jdk(String tool) {
    return Path.of(System.getProperty("java.home"), "bin", tool).toString();
  }

  private static List<String> with(List<String> command, String... more) {
    List<String> all = new ArrayList<>(command);
    all.addAll(List.of(more));
    return all;
  }

  private static String run(Path folder, List<String> command) {
    try {
      Path errors = Files.createTempFile(folder, "errors", ".txt");
      Process process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectError(errors.toFile())
              .start();
      String output = new String(process.getInputStream().readAllBytes(), UTF_8);
      if (process.waitFor() != 0) {
        throw new AssertionError(
            command.getFirst() + " failed:\n" + output + Files.readString(errors));
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
