package dev.coatcheck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher of a release and of the image: with a Java that prints what it is started with. */
class ReleaseLauncherTest {
  /** What the launcher calls; there is no java beside it. */
  private static final List<String> TOOLS = List.of("readlink", "dirname", "sed", "grep", "locale");

  @TempDir Path folder;

  private Path release;

  private record Ended(int status, List<String> lines) {}

  @BeforeEach
  void unpack() throws IOException {
    release = Files.createDirectory(folder.resolve("a release"));
    Path lib = Files.createDirectory(release.resolve("lib"));
    Files.copy(Path.of("ops/release/coatcheck"), release.resolve("coatcheck"));
    makeExecutable(release.resolve("coatcheck"));
    Files.createFile(release.resolve("coatcheck.jar"));
    Files.createFile(release.resolve("jvm.options"));
    Files.copy(Path.of("build/locale.sh"), lib.resolve("locale.sh"));
    // Not those that are installed on this machine.
    Files.writeString(
        lib.resolve("jdk.sh"),
        Files.readString(Path.of("build/jdk.sh")).replaceAll(" /(usr|opt|Library)/\\S*\\*", ""));
    Path bin = Files.createDirectory(folder.resolve("bin"));
    for (String tool : TOOLS) {
      for (String place : List.of("/bin", "/usr/bin")) {
        if (Files.exists(Path.of(place, tool))) {
          Files.writeString(
              bin.resolve(tool), "#!/bin/sh\nexec %s/%s \"$@\"\n".formatted(place, tool));
          makeExecutable(bin.resolve(tool));
        }
      }
    }
  }

  @Test
  void aJreIsEnough() throws Exception {
    Path jre = java("25.0.3");

    Ended ended = coatcheck(Map.of("JAVA_HOME", jre.toString()), "serve", "--port", "a b*");

    assertThat(ended.lines())
        .containsSubsequence(
            "@" + release.toRealPath().resolve("jvm.options"),
            "-XX:+UseSerialGC",
            "-jar",
            release.toRealPath().resolve("coatcheck.jar").toString(),
            "serve",
            "--port",
            "a b*");
    assertThat(ended.lines()).noneMatch(line -> line.contains("AOT") || line.contains("Tiered"));
    assertThat(ended.status()).isEqualTo(7); // that of the program
    assertThat(jre.resolve("bin/javac")).doesNotExist();
  }

  @Test
  void aVerbStartsQuicklyAndTheCachesAreUsedWhereThereAreAny() throws Exception {
    Path jre = java("25.0.3");
    Files.createFile(release.resolve("coatcheck-verbs.aot"));

    assertThat(coatcheck(Map.of("JAVA_HOME", jre.toString()), "mint").lines())
        .contains(
            "-XX:TieredStopAtLevel=1",
            "-XX:AOTCache=" + release.toRealPath().resolve("coatcheck-verbs.aot"));
    assertThat(coatcheck(Map.of("JAVA_HOME", jre.toString()), "serve").lines())
        .noneMatch(line -> line.contains("AOTCache"));
  }

  @Test
  void theOptionsOfTheUserWin() throws Exception {
    Ended ended =
        coatcheck(
            Map.of(
                "JAVA_HOME",
                java("25").toString(),
                "COATCHECK_JAVA_OPTS",
                "-Xmx1g -XX:+UseParallelGC"),
            "serve");

    assertThat(ended.lines())
        .containsSubsequence("-Xmx1g", "-XX:+UseParallelGC", "-jar")
        .doesNotContain("-XX:+UseSerialGC");
  }

  @Test
  void itIsFoundThroughLinks() throws Exception {
    Path direct = folder.resolve("direct");
    Path other = Files.createDirectory(folder.resolve("other"));
    Files.createSymbolicLink(direct, Path.of("a release/coatcheck"));
    Files.createSymbolicLink(other.resolve("coatcheck"), direct);

    Map<String, String> java = Map.of("JAVA_HOME", java("25.0.3").toString());
    assertThat(run(other.resolve("coatcheck"), java, "serve")).isEqualTo(coatcheck(java, "serve"));
  }

  @Test
  void aMissingJavaAndAnOldOneAreSaid() throws Exception {
    String todo =
        ": install a JRE 25 (https://adoptium.net) or set COATCHECK_JAVA_HOME to its directory";

    assertThat(coatcheck(Map.of(), "serve"))
        .isEqualTo(refused("no Java 25 found, and the java on PATH is missing" + todo));
    Files.createSymbolicLink(folder.resolve("bin/java"), java("17.0.12").resolve("bin/java"));
    assertThat(coatcheck(Map.of(), "serve"))
        .isEqualTo(refused("no Java 25 found, and the java on PATH is 17.0.12" + todo));
  }

  @Test
  void aJavaThatIsNamedAndIsNoneIsSaid() throws Exception {
    String old = java("24.0.1").toString();

    assertThat(
            coatcheck(
                Map.of("JAVA_HOME", java("25").toString(), "COATCHECK_JAVA_HOME", old), "serve"))
        .isEqualTo(refused("COATCHECK_JAVA_HOME=" + old + " is not a Java 25"));
  }

  @Test
  void aLauncherThatWasCopiedAwaySaysWhatIsMissing() throws Exception {
    Path alone = Files.copy(release.resolve("coatcheck"), folder.resolve("coatcheck"));
    makeExecutable(alone);

    assertThat(run(alone, Map.of("JAVA_HOME", java("25").toString()), "serve"))
        .isEqualTo(
            refused(
                folder.toRealPath().resolve("coatcheck.jar")
                    + " is missing: unpack the release again, and link to this file instead of"
                    + " copying it"));
  }

  private static Ended refused(String why) {
    return new Ended(1, List.of("coatcheck: " + why));
  }

  /** A Java without a compiler, which prints its arguments and exits with 7. */
  private Path java(String version) throws IOException {
    Path home = folder.resolve("java-" + version);
    Path bin = Files.createDirectories(home.resolve("bin"));
    Files.writeString(
        bin.resolve("java"),
        """
        #!/bin/sh
        if [ "$1" = -version ]; then
          echo 'openjdk version "%s" 2026-07-21' >&2
          exit
        fi
        printf '%%s\\n' "$@"
        exit 7
        """
            .formatted(version));
    makeExecutable(bin.resolve("java"));
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
    return home;
  }

  private static void makeExecutable(Path file) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private Ended coatcheck(Map<String, String> environment, String... arguments) throws Exception {
    return run(release.resolve("coatcheck"), environment, arguments);
  }

  private Ended run(Path launcher, Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(launcher.toString()).redirectErrorStream(true);
    builder.command().addAll(List.of(arguments));
    builder.directory(Files.createDirectories(folder.resolve("empty")).toFile());
    Map<String, String> all = new HashMap<>(environment);
    all.put("PATH", folder.resolve("bin").toString());
    all.put("HOME", folder.toString());
    builder.environment().clear();
    builder.environment().putAll(all);
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Ended(process.waitFor(), output.lines().toList());
  }
}
