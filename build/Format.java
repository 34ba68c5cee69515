import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Checks or rewrites the layout of every Java file: {@code java build/Format.java JAR check|write
 * ROOT}. A process of its own, because the formatter needs a newer JDK than the one Maven may run
 * on. Files that had the right layout before are not read by the formatter again.
 */
public class Format {
  /** The check is over before the second compiler pays. */
  private static final String FIRST_COMPILER_ONLY = "-XX:TieredStopAtLevel=1";

  public static void main(String[] args) throws Exception {
    Path root = Path.of(args[2]);
    boolean write = args[1].equals("write");
    Path stamp = root.resolve("target/formatted");
    String formatter = fingerprint("", Path.of(args[0]));
    Set<String> right = new TreeSet<>();
    if (Files.exists(stamp)) {
      right.addAll(Files.readAllLines(stamp));
    }
    List<Path> files = new ArrayList<>();
    for (String folder : List.of("src", "clients/java", "bench/src", "bench/test", "build")) {
      files.addAll(javaFilesUnder(root.resolve(folder)));
    }
    List<String> open = new ArrayList<>();
    for (Path file : files) {
      if (!right.contains(fingerprint(formatter, file))) {
        open.add(file.toString());
      }
    }
    if (open.isEmpty()) {
      return;
    }
    List<String> command =
        new ArrayList<>(List.of(javaExecutable(), FIRST_COMPILER_ONLY, "-jar", args[0]));
    command.addAll(write ? List.of("--replace") : List.of("--dry-run", "--set-exit-if-changed"));
    command.addAll(open);
    int status = new ProcessBuilder(command).inheritIO().start().waitFor();
    if (status != 0) {
      System.err.println(
          "The files above are not formatted. Run: ./mvnw process-sources -Dformat.mode=write");
      System.exit(status);
    }
    right.clear();
    for (Path file : files) {
      right.add(fingerprint(formatter, file));
    }
    Files.createDirectories(stamp.getParent());
    Files.write(stamp, right);
  }

  /** Of the file and the formatter: another one may lay it out in another way. */
  private static String fingerprint(String formatter, Path file)
      throws IOException, NoSuchAlgorithmException {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    digest.update(formatter.getBytes(UTF_8));
    return HexFormat.of().formatHex(digest.digest(Files.readAllBytes(file)));
  }

  private static List<Path> javaFilesUnder(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !folder.relativize(file).toString().contains("target/"))
          .sorted()
          .toList();
    }
  }

  private static String javaExecutable() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }
}
