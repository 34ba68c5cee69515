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
  void buildTestCompilesWhatChangedAndWhatNamesItAndEndsWithTheTests() throws Exception {
    assumeTrue(CoatcheckProgram.isInstalled("bash"), "bash is not installed");
    for (String name : List.of("test", "test.jvm", "jdk.sh", "locale.sh")) {
      Files.copy(
          Path.of("build", name), write("build/" + name, ""), StandardCopyOption.REPLACE_EXISTING);
    }
    for (String name :
        List.of("bench/src/", "migrations/", "openapi/", "target/generated-sources/jooq/")) {
      Files.createDirectories(folder.resolve(name));
    }
    write("pom.xml", "");
    write("build/Codegen.java", "");
    write("src/main/resources/empty", "");
    write("src/test/resources/empty", "");
    write("src/main/java/Coat.java", "class Coat { static final int TICKETS = 1; }");
    write(
        "src/test/java/CoatTest.java",
        """
        class CoatTest {
          @org.junit.jupiter.api.Test
          void aCoatHasOneTicket() {
            if (Coat.TICKETS != 1) throw new AssertionError("two tickets");
          }
        }
        """);
    write("target/test-libraries.txt", System.getProperty("java.class.path"));

    assertThat(buildTest("CoatTest").status()).isZero();
    write("src/main/java/Coat.java", "class Coat { static final int TICKETS = 2; }");
    Run red = buildTest("Coat.*");
    assertThat(red.output()).contains("aCoatHasOneTicket", "two tickets");
    assertThat(red.status()).isNotZero();
    assertThat(buildTest("NoSuchTest").status()).isNotZero();
    assertThat(buildTest().output()).contains("name a test class");
  }

  private Path write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, text);
  }

  private Run buildTest(String... arguments) throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder("bash", "build/test")
            .directory(folder.toFile())
            .redirectErrorStream(true);
    builder.command().addAll(List.of(arguments));
    builder.environment().put("COATCHECK_JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Run(process.waitFor(), output);
  }
}
