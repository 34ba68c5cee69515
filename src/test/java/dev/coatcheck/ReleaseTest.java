package dev.coatcheck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What {@code ./mvnw -Prelease package} makes for this platform, unpacked and started as a user
 * does.
 */
@Tag("faults") // builds the whole program, twice
@Tag("alone")
class ReleaseTest {
  private static final String PREVIOUS = "COATCHECK_PREVIOUS_RELEASE";

  /** How long two releases run side by side. */
  private static final Duration BESIDE = Duration.ofSeconds(Integer.getInteger("beside", 60));

  @TempDir static Path folder;

  private static final String PLATFORM =
      (System.getProperty("os.name").startsWith("Mac") ? "macos" : "linux")
          + (System.getProperty("os.arch").equals("aarch64") ? "-arm64" : "-x86_64");

  private static Path built;
  private static Path archive;
  private static Path release;

  @BeforeAll
  static void build() throws Exception {
    for (String tool : List.of("bash", "git", "tar")) {
      assumeTrue(CoatcheckProgram.isInstalled(tool), tool + " is not installed");
    }
    built = builtIn("one");
    try (Stream<Path> files = Files.list(built)) {
      archive =
          files
              .filter(file -> file.toString().endsWith("-" + PLATFORM + ".tar.gz"))
              .findFirst()
              .orElseThrow();
    }
    Path unpacked = Files.createDirectory(folder.resolve("unpacked"));
    run(unpacked, Map.of(), "tar", "-xzf", archive.toString());
    release =
        unpacked.resolve(archive.getFileName().toString().replace("-" + PLATFORM + ".tar.gz", ""));
  }

  /** A copy of the sources, built; where its files lie. */
  private static Path builtIn(String name) throws Exception {
    Path copy = Files.createDirectory(folder.resolve(name));
    String files =
        run(
            Path.of("."),
            Map.of(),
            "git",
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard");
    for (String file : files.lines().toList()) {
      if (Files.exists(Path.of(file))) {
        Files.createDirectories(copy.resolve(file).getParent());
        Files.copy(Path.of(file), copy.resolve(file));
      }
    }
    List<String> command =
        new ArrayList<>(
            List.of("./mvnw", "-B", "-Prelease", "-DskipTests", "-Dmaven.test.skip", "package"));
    Optional.ofNullable(System.getProperty("localRepository"))
        .ifPresent(repository -> command.add("-Dmaven.repo.local=" + repository));
    run(copy, Map.of(), command.toArray(String[]::new));
    return copy.resolve("target");
  }

  @Test
  void twoBuildsInTwoFoldersGiveTheSameBytes() throws Exception {
    String sums = Files.readString(built.resolve("SHA256SUMS"));

    assertThat(Files.readString(builtIn("two").resolve("SHA256SUMS"))).isEqualTo(sums);
    assertThat(sums.lines()).hasSize(CoatcheckProgram.isInstalled("npm") ? 5 : 4);
    for (String line : sums.lines().toList()) {
      String[] sumAndName = line.split("  ", 2);
      byte[] bytes = Files.readAllBytes(built.resolve(sumAndName[1]));
      assertThat(HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)))
          .isEqualTo(sumAndName[0]);
    }
    assertThat(sums)
        .contains(
            "-linux-x86_64.tar.gz", "-linux-arm64.tar.gz", "-macos-arm64.tar.gz", ".cdx.json");
  }

  @Test
  void itHoldsTheProgramAndWhatComesWithIt() throws Exception {
    String name = release.getFileName().toString();

    assertThat(name).matches("coatcheck-\\d+\\.\\d+\\.\\d+");
    assertThat(release.toFile().list())
        .containsExactlyInAnyOrder(
            "coatcheck",
            "coatcheck.jar",
            "jvm.options",
            "lib",
            "postgres",
            "completions",
            "sql",
            "LICENSE",
            "THIRD-PARTY.txt",
            "CHANGELOG.md",
            name + ".cdx.json");
    List<String> entries =
        run(folder, Map.of(), "tar", "--numeric-owner", "-tvzf", archive.toString())
            .lines()
            .toList();
    assertThat(entries)
        .allMatch(entry -> entry.matches("(-rw-r--r--|[-dl]rwxr-xr-x) 0/0 .*"))
        .filteredOn(entry -> entry.startsWith("-rwx") && !entry.contains(name + "/postgres/"))
        .singleElement()
        .asString()
        .endsWith(" " + name + "/coatcheck");
    assertThat(run(release, Map.of(), "./coatcheck", "--version"))
        .isEqualTo(name.replace('-', ' ') + "\n");
  }

  @Test
  void everyLibraryIsInTheBillAndItsLicenceIsNamed() throws Exception {
    String thirdParty = Files.readString(release.resolve("THIRD-PARTY.txt"));
    String bill = Files.readString(release.resolve(release.getFileName() + ".cdx.json"));
    try (Stream<Path> jars = Files.list(release.resolve("lib"))) {
      for (Path jar : jars.filter(file -> file.toString().endsWith(".jar")).toList()) {
        String name = jar.getFileName().toString();
        assertThat(thirdParty).containsPattern("(?m)^" + name.replace(".", "\\.") + " +\\S");
        assertThat(bill).contains("\"" + name.replaceFirst("-\\d.*", "") + "\"");
      }
    }
    assertThat(thirdParty)
        .contains("Apache License", "Eclipse Public License", "University of California")
        .doesNotContain("no licence is named");
  }

  @Test
  void theCompletionsAreThoseOfTheProgram() throws Exception {
    for (String shell : List.of("bash", "zsh", "fish")) {
      assertThat(release.resolve("completions/coatcheck." + shell))
          .content()
          .isEqualTo(run(release, Map.of(), "./coatcheck", "completion", shell))
          .contains("mint", "migrate-table");
    }
  }

  @Test
  void theClientForNodeNeedsNothingElse() throws Exception {
    NodeProject.requireNode();
    String packed =
        "coatcheck-client-" + release.getFileName().toString().replace("coatcheck-", "") + ".tgz";
    assertThat(built.resolve("SHA256SUMS")).content().contains("  " + packed + "\n");
    assertThat(
            run(folder, Map.of(), "tar", "-tzf", built.resolve(packed).toString())
                .lines()
                .filter(entry -> !entry.matches("package/dist/[a-z-]+[.](js|d[.]ts)")))
        .containsExactlyInAnyOrder("package/LICENSE", "package/README.md", "package/package.json");
    Path application = Files.createDirectory(folder.resolve("application"));
    Files.writeString(application.resolve("package.json"), "{\"type\": \"module\"}");

    run(application, Map.of(), "npm", "install", "--offline", built.resolve(packed).toString());
    assertThat(application.resolve("node_modules").toFile().list())
        .containsOnly("@coatcheck", ".package-lock.json");
    assertThat(
            run(
                application,
                Map.of(),
                "node",
                "--input-type=module",
                "--eval",
                "import { Coatcheck, parsePublicId } from '@coatcheck/client';"
                    + " import * as browser from '@coatcheck/client/public-id';"
                    + " console.log(Coatcheck.name, browser.parsePublicId === parsePublicId,"
                    + " parsePublicId('ch_4KIWSf8WvPNoQDBwStVIDYHU').outcome);"))
        .isEqualTo("Coatcheck true valid\n");
  }

  @Test
  void itServesFromAnEmptyFolderWithAJreOnly() throws Exception {
    Path jre = folder.resolve("jre");
    run(
        folder,
        Map.of(),
        Path.of(System.getProperty("java.home"), "bin", "jlink").toString(),
        "--add-modules",
        // Those of a Temurin JRE that are ever used: no compiler among them.
        "java.se,jdk.unsupported,jdk.crypto.ec,jdk.management,jdk.localedata,jdk.zipfs,jdk.net",
        "--output",
        jre.toString());
    assertThat(jre.resolve("bin/javac")).doesNotExist();
    try (TestHome home = TestHome.fresh()) {
      Path empty = Files.createDirectory(home.folder().resolve("empty"));
      Path link = Files.createSymbolicLink(folder.resolve("link"), release.resolve("coatcheck"));
      long start = System.nanoTime();
      try (ReleasedGateway gateway =
          ReleasedGateway.serve(link, empty, Map.of("COATCHECK_JAVA_HOME", jre.toString()))) {
        assertThat(status(gateway.uri().resolve("/health/ready"))).isEqualTo(200);
        System.out.printf(
            "ReleaseTest: the first start took %d ms%n",
            Duration.ofNanos(System.nanoTime() - start).toMillis());
        assertThat(empty.resolve(".coatcheck/dev-key")).exists();
        assertThat(empty.resolve(".coatcheck/postgres")).as("unpacked once more").doesNotExist();
      }
      assertThat(empty.toFile().list()).containsExactly(".coatcheck");
    }
  }

  /** As instances are replaced: one after the other on one database, for a while side by side. */
  @Test
  void anUpgradeFailsNoRequestAndLosesNothing() throws Exception {
    Path previous =
        Optional.ofNullable(System.getenv(PREVIOUS)).map(Path::of).orElse(release).toAbsolutePath();
    TestDatabase database = TestDatabase.empty();
    Map<String, String> settings =
        Map.of(
            "COATCHECK_DATABASE_URL", database.url(),
            "COATCHECK_DATABASE_USER", database.user(),
            "COATCHECK_DATABASE_PASSWORD", database.password(),
            "COATCHECK_DATABASE_CONNECTIONS", "4",
            "COATCHECK_JAVA_HOME", System.getProperty("java.home"));
    Path here = Files.createDirectory(folder.resolve("upgrade"));
    String key =
        run(here, settings, previous + "/coatcheck", "access", "create", "--name=a", "--scope=*")
            .lines()
            .findFirst()
            .orElseThrow();
    UpgradeLoad load = new UpgradeLoad(key);
    try (ReleasedGateway old =
        ReleasedGateway.serve(previous.resolve("coatcheck"), here, settings)) {
      load.register(old.uri());
      load.run(List.of(old.uri()), Duration.ofSeconds(2));
      try (ReleasedGateway current =
          load.runWhile(
              List.of(old.uri()),
              () -> ReleasedGateway.serve(release.resolve("coatcheck"), here, settings))) {
        load.run(List.of(old.uri(), current.uri()), BESIDE);
        old.stop();
        load.run(List.of(current.uri()), Duration.ofSeconds(2));
        load.assertNothingLost(current.uri());
        assertThat(current.log()).noneMatch(line -> line.contains(" ERROR "));
      }
      assertThat(old.log()).noneMatch(line -> line.contains(" ERROR "));
    }
    System.out.println("ReleaseTest: upgraded from " + previous.getFileName() + ", " + load);
  }

  private static int status(URI uri) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding())
          .statusCode();
    }
  }

  /** What a program printed; one that fails is a failure. */
  private static String run(Path directory, Map<String, String> environment, String... command)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("COATCHECK_"));
    builder.environment().put("COATCHECK_JAVA_HOME", System.getProperty("java.home"));
    builder.environment().putAll(environment);
    Path error = Files.createTempFile(folder, "run", ".err");
    Process process = builder.redirectError(error.toFile()).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor())
        .as("%s%n%s%n%s", List.of(command), output, Files.readString(error))
        .isZero();
    return output;
  }
}
