package dev.coatcheck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The way to a first test that CONTRIBUTING.md shows. */
class ContributingTest {
  private static final Pattern RECIPE =
      Pattern.compile("`(src/test/java/\\S+)`:\n\n```java\n(.*?)```", Pattern.DOTALL);

  @TempDir Path folder;

  private record Run(int status, String output) {}

  @Test
  void theTestThatIsShownIsThere() throws IOException {
    Matcher shown = RECIPE.matcher(Files.readString(Path.of("CONTRIBUTING.md")));

    assertThat(shown.find()).isTrue();
    assertThat(Files.readString(Path.of(shown.group(1)))).endsWith("\n\n" + shown.group(2));
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void buildTestCompilesWhatChangedAndWhatNamesItAndEndsWithTheTests() throws Exception {
    for (String tool : List.of("bash", "git")) {
      assumeTrue(CoatcheckProgram.isInstalled(tool), tool + " is not installed");
    }
    for (String name : List.of("test", "flaky", "test.jvm", "jdk.sh", "locale.sh")) {
      Files.copy(
          Path.of("build", name),
          write("build/" + name, ""),
          StandardCopyOption.REPLACE_EXISTING,
          StandardCopyOption.COPY_ATTRIBUTES);
    }
    for (String name :
        List.of(
            "bench/test/",
            "clients/java/coatcheck-id/src/main/java/",
            "clients/java/coatcheck-client/src/main/java/",
            "clients/java/coatcheck-keys/src/main/java/",
            "migrations/",
            "openapi/",
            "src/main/jte/",
            "target/generated-sources/jooq/",
            "target/generated-sources/jte/")) {
      Files.createDirectories(folder.resolve(name));
    }
    write("pom.xml", "");
    write("build/pom.xml", "");
    write("build/Codegen.java", "");
    write("src/main/resources/empty", "");
    write("src/test/resources/empty", "");
    write("src/main/java/coat/Coat.java", "package coat; class Coat { static int tickets = 1; }");
    write(
        "src/test/java/coat/CoatTest.java",
        """
        package coat;
        class CoatTest {
          @org.junit.jupiter.api.Test
          void aCoatHasOneTicket() {
            if (Coat.tickets != 1) throw new AssertionError("two tickets");
          }
        }
        """);
    write("target/test-libraries.txt", System.getProperty("java.class.path"));

    git("init", "--quiet");
    git("add", ".");
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message=a");

    Run green = run("build/test", "CoatTest");
    assertThat(green.status()).as(green.output()).isZero();
    assertThat(run("build/test", "--changed").output()).contains("nothing differs from HEAD");
    write("src/main/java/coat/Coat.java", "package coat; class Coat { static int tickets = 2; }");
    for (String tests : List.of("Coat.*", "--changed")) {
      Run red = run("build/test", tests);
      assertThat(red.output()).contains("aCoatHasOneTicket", "two tickets");
      assertThat(red.status()).isNotZero();
    }
    Run flaky = run("build/flaky", "2", "CoatTest");
    assertThat(flaky.output()).contains("red in round 1 2 of 2");
    assertThat(flaky.status()).isNotZero();
    assertThat(run("build/test", "NoSuchTest").status()).isNotZero();
    assertThat(run("build/test").output()).contains("name a test class");
  }

  private Path write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, text);
  }

  private void git(String... arguments) throws IOException, InterruptedException {
    Run run = run(Stream.concat(Stream.of("git"), Stream.of(arguments)).toArray(String[]::new));
    assertThat(run.status()).as(run.output()).isZero();
  }

  private Run run(String... command) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
    builder.environment().put("COATCHECK_JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Run(process.waitFor(), output);
  }
}
