package dev.coatcheck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The libraries for frameworks pass their tests with a gateway, and {@code docs/spring.md} leads
 * from an empty folder to the first public ID, with both versions of Spring Boot.
 */
@Tag("clients")
class SpringPageTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  /** Of the sample shop. */
  private static final TestDatabase DATABASE = TestDatabase.empty();

  private static final Path ROOT = Path.of("").toAbsolutePath();
  private static final String PUBLIC_ID = "ch_[0-9A-Za-z]{24}";

  /** Begins the reason of a skip, which CI accepts. */
  private static final String NO_ARTEFACTS = "the registry lacks artefacts of ";

  @TempDir Path folder;

  /** They go to the local repository, where the page's application finds them. */
  @BeforeAll
  static void theLibrariesAreBuilt() throws Exception {
    Ran built = ran(ROOT, maven("-f", "clients/java", "-Pclients", "install", "-DskipTests"));
    assumeArtefacts(built, "Spring, Hibernate or jOOQ");
    assertThat(built.status()).as(built.output()).isZero();
  }

  @Test
  void theLibrariesPassTheirTestsWithAGateway() throws Exception {
    Ran tested = ran(ROOT, maven("-f", "clients/java", "-Pclients", "verify"));

    assertThat(tested.status()).as(tested.output()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"4.1.2 coatcheck-spring-boot4", "3.5.16 coatcheck-spring-boot3"})
  void anEmptyFolderGetsToTheFirstPublicId(String versions) throws Exception {
    String page = Files.readString(ROOT.resolve("docs/spring.md"));
    String[] version = versions.split(" ", -1);
    write(
        "pom.xml",
        blocks(page, "xml")
            .get(0)
            .replace("4.1.2", version[0])
            .replace("coatcheck-spring-boot4", version[1]));
    write("src/main/java/shop/Shop.java", blocks(page, "java").get(0));
    write("src/main/resources/application.properties", blocks(page, "properties").get(0));
    write("bin/mvn", "#!/bin/sh\nexec '" + ROOT.resolve("mvnw") + "' -B \"$@\"\n");
    Files.setPosixFilePermissions(
        folder.resolve("bin/mvn"), PosixFilePermissions.fromString("rwx------"));
    List<String> commands = blocks(page, "sh");
    String port = Integer.toString(FreePort.next());
    String before = commands.get(0).replace("8090", port);

    Ran ran =
        ran(
            folder,
            List.of(
                "bash",
                "-c",
                "set -e; trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"
                    + before.replace("8090 &", "8090 >shop.log 2>&1 &")
                    + "echo ==\n"
                    + commands.get(1).replace("8090", port)));

    assumeArtefacts(ran, "Spring Boot " + version[0]);
    assertThat(ran.status()).as(ran.output()).isZero();
    assertThat(ran.output().substring(ran.output().indexOf("==\n") + 3).replaceAll(PUBLIC_ID, "ch"))
        .startsWith(blocks(page, "text").get(0).replaceAll(PUBLIC_ID, "ch"));
  }

  /** A sample application with Hibernate: typed IDs, two seconds, and one call for 500 rows. */
  @Test
  void theSampleShopPassesItsTests() throws Exception {
    // Of its own: its charges get their keys from the gateway, and those of the page bring them.
    try (GatewayFixture gateway = GatewayFixture.own()) {
      Ran tested = ran(gateway, ROOT, maven("-f", "examples/spring-shop", "verify"));

      assumeArtefacts(tested, "Spring Boot 4 with JPA");
      assertThat(tested.status()).as(tested.output()).isZero();
    }
  }

  private void write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private static List<String> blocks(String page, String language) {
    return Pattern.compile("(?s)\n```" + language + "\n(.*?)```\n")
        .matcher(page)
        .results()
        .map((MatchResult block) -> block.group(1))
        .toList();
  }

  private static void assumeArtefacts(Ran ran, String what) {
    assumeTrue(
        ran.status() == 0 || !ran.output().matches("(?s).*Could not (find|transfer) artifact.*"),
        NO_ARTEFACTS + what);
  }

  private static List<String> maven(String... arguments) {
    return Stream.concat(
            Stream.of(ROOT.resolve("mvnw").toString(), "-B", "-q"), Stream.of(arguments))
        .toList();
  }

  private record Ran(int status, String output) {}

  private static Ran ran(Path directory, List<String> command)
      throws IOException, InterruptedException {
    return ran(GATEWAY, directory, command);
  }

  private static Ran ran(GatewayFixture gateway, Path directory, List<String> command)
      throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
    Map<String, String> environment = builder.environment();
    environment.put("COATCHECK_URL", gateway.uri().toString().replaceFirst("/$", ""));
    environment.put("COATCHECK_API_KEY", gateway.key());
    environment.put("DATABASE_URL", DATABASE.url());
    environment.put("DATABASE_USER", DATABASE.user());
    environment.put("DATABASE_PASSWORD", DATABASE.password());
    environment.merge("PATH", directory.resolve("bin").toString(), (path, bin) -> bin + ":" + path);
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Ran(process.waitFor(), output);
  }
}
