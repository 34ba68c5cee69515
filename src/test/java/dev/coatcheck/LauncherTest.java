package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The launcher {@code ./coatcheck} in a tree of its own, whose build takes no time: its {@code
 * mvnw} prints what Maven prints, and writes a text in the place of the jar.
 */
class LauncherTest {
  private static final String MAVEN =
      """
      #!/bin/sh
      echo 'Downloaded from central: https://repository.example/a.jar'
      echo '[INFO] --- exec:3.6.2:exec (jooq) @ coatcheck ---'
      echo '[INFO] --- compiler:3.14.1:compile (default-compile) @ coatcheck ---'
      sleep 1
      echo '[INFO] --- jar:3.4.2:jar (default-jar) @ coatcheck ---'
      echo built >>target/builds
      echo whole >target/coatcheck.jar
      """;

  @TempDir private Path tree;

  private record Ended(int status, String err) {}

  @BeforeEach
  void plant() throws IOException {
    assumeTrue(CoatcheckProgram.isInstalled("bash"), "bash is not installed");
    for (String file : List.of("coatcheck", "build/jdk.sh", "build/locale.sh", "ops/jvm/options")) {
      Path copy = tree.resolve(file);
      Files.createDirectories(copy.getParent());
      Files.copy(Path.of(file), copy);
    }
    for (String folder : List.of("src/main", "migrations", "openapi", "target")) {
      Files.createDirectories(tree.resolve(folder));
    }
    Files.writeString(tree.resolve("pom.xml"), "");
    maven(MAVEN);
  }

  private void maven(String script) throws IOException {
    Files.setPosixFilePermissions(
        Files.writeString(tree.resolve("mvnw"), script),
        PosixFilePermissions.fromString("rwx------"));
  }

  @Test
  void eachPartOfTheBuildHasItsSeconds() throws Exception {
    Ended first = run("./coatcheck --version");

    assertThat(first.err())
        .startsWith("building (first time only: ")
        .contains("  fetching libraries … 0 s\n")
        .contains("  reading the schema with a Postgres of its own … 0 s\n")
        .containsPattern("  compiling … [1-9][0-9]* s\n")
        .containsPattern("  packing the jar … [0-9]+ s\n");
    assertThat(builds()).isEqualTo(1);
    assertThat(run("./coatcheck --version").err()).doesNotContain("building");
    assertThat(builds()).isEqualTo(1);
  }

  @Test
  void ctrlCSaysSoAndTheNextStartBuildsAgain() throws Exception {
    maven(
        MAVEN.replace(
            "echo whole >target/coatcheck.jar",
            "echo half >target/coatcheck.jar; mkdir -p target/classes; echo half"
                + " >target/classes/Half.class; touch target/under-way; sleep 60"));
    // With job control the launcher has a process group of its own, as in a terminal.
    Ended interrupted =
        run(
            """
            set -m
            # What runs in the background of a script, as CI may, ignores Ctrl-C, and so do its children.
            default=(env --default-signal=INT)
            "${default[@]}" true 2>/dev/null || default=()
            "${default[@]}" ./coatcheck --version &
            until [ -f target/under-way ]; do sleep 0.1; done
            kill -INT -- -$!
            wait $!
            """);

    assertThat(interrupted.status()).isEqualTo(130);
    assertThat(interrupted.err())
        .contains("coatcheck: interrupted. Nothing was started; the next start builds again.\n");
    assertThat(tree.resolve("target/coatcheck.jar")).hasContent("half");

    maven(MAVEN);
    run("./coatcheck --version");

    assertThat(tree.resolve("target/coatcheck.jar")).hasContent("whole");
    assertThat(tree.resolve("target/classes/Half.class")).doesNotExist();
    assertThat(builds()).isEqualTo(2);
    run("./coatcheck --version");
    assertThat(builds()).isEqualTo(2);
  }

  @Test
  void anEndedLauncherLeavesNoBuildRunning() throws Exception {
    maven(
        MAVEN.replace(
            "echo whole",
            "touch target/under-way; until [ -f target/go ]; do sleep 0.1; done; echo whole"));

    Ended ended =
        run(
            """
            ./coatcheck --version &
            until [ -f target/under-way ]; do sleep 0.1; done
            kill -TERM $!
            touch target/go
            wait $!
            """);

    assertThat(ended.status()).isEqualTo(143);
    assertThat(ended.err()).contains("the next start builds again.\n");
    assertThat(tree.resolve("target/coatcheck.jar")).hasContent("whole");
  }

  /** As on macOS. */
  @Test
  void twoStartsBuildOnceWithoutFlock() throws Exception {
    assumeTrue(CoatcheckProgram.isInstalled("perl"), "perl is not installed");

    Ended both =
        run(
            """
            mkdir bin
            ln -s /bin/* /usr/bin/* bin/ 2>/dev/null || true
            rm -f bin/flock
            export PATH=$PWD/bin
            ./coatcheck --version &
            ./coatcheck --version
            wait
            rm -rf bin
            """);

    assertThat(both.err()).contains("building");
    assertThat(builds()).isEqualTo(1);
  }

  private long builds() throws IOException {
    return Files.readAllLines(tree.resolve("target/builds")).size();
  }

  private Ended run(String script) throws Exception {
    ProcessBuilder builder = new ProcessBuilder("bash", "-c", script).directory(tree.toFile());
    builder.environment().remove("CI");
    builder.environment().keySet().removeIf(name -> name.startsWith("COATCHECK_"));
    builder
        .environment()
        .putAll(
            Map.of("COATCHECK_AOT", "no", "COATCHECK_JAVA_HOME", System.getProperty("java.home")));
    Process process = builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ended(process.waitFor(), err);
  }
}
