import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Checks or rewrites the layout of every Java file: {@code java build/Format.java JAR check|write
 * ROOT}. A process of its own, because the formatter needs a newer JDK than the one Maven may run
 * on.
 */
public class Format {
  /** The check is over before the second compiler pays. */
  private static final String FIRST_COMPILER_ONLY = "-XX:TieredStopAtLevel=1";

  public static void main(String[] args) throws Exception {
    Path root = Path.of(args[2]);
    boolean write = args[1].equals("write");
    List<String> command =
        new ArrayList<>(List.of(javaExecutable(), FIRST_COMPILER_ONLY, "-jar", args[0]));
    command.addAll(write ? List.of("--replace") : List.of("--dry-run", "--set-exit-if-changed"));
    for (String folder : List.of("src", "clients/java", "bench/src", "bench/test", "build")) {
      javaFilesUnder(root.resolve(folder)).forEach(command::add);
    }
    int status = new ProcessBuilder(command).inheritIO().start().waitFor();
    if (status != 0) {
      System.err.println(
          "The files above are not formatted. Run: ./mvnw process-sources -Dformat.mode=write");
      System.exit(status);
    }
  }

  private static List<String> javaFilesUnder(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !folder.relativize(file).toString().contains("target/"))
          .map(Path::toString)
          .sorted()
          .toList();
    }
  }

  private static String javaExecutable() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }
}
