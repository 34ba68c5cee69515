package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * No text of a stranger makes a reader fail, or is written back as another text. {@code build/fuzz}
 * looks for longer.
 */
class ParserFuzzTest {
  /** The profile "faults" fetches it, and {@code build/fuzz} too. */
  private static final Path JAZZER = Path.of("target", "fuzz", "lib");

  private static final int SECONDS = Integer.getInteger("fuzz.seconds", 8);
  private static final int LENGTH_MAX = 300;

  /** The first text loads and instruments all classes, which took 6 s on a busy machine. */
  private static final int TEXT_SECONDS_MAX = 30;

  private static final int MUTATIONS = 300;

  @TempDir Path folder;

  /** Every class {@code …Fuzz}, which {@code build/fuzz} finds in the same way. */
  static List<String> targets() throws IOException {
    Path root = Path.of("src", "test", "java");
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(file -> file.toString().endsWith("Fuzz.java"))
          .map(file -> root.relativize(file).toString().replace(".java", "").replace('/', '.'))
          .sorted()
          .toList();
    }
  }

  @Test
  void theTargetsAreFound() throws IOException {
    assertThat(targets())
        .contains("dev.coatcheck.core.formats.TextFuzz", "dev.coatcheck.ids.access.AccessFuzz")
        .hasSizeGreaterThan(5);
  }

  @ParameterizedTest
  @MethodSource("targets")
  void theTextsToBeginWithAndTheirNeighboursAreAnswered(String target) throws Exception {
    Random random = new Random(29);
    for (byte[] text : texts(target)) {
      read(target, text);
      for (int end = 0; end < text.length; end++) {
        read(target, Arrays.copyOf(text, end));
      }
      for (int i = 0; i < MUTATIONS && text.length > 0; i++) {
        byte[] other = text.clone();
        other[random.nextInt(other.length)] = (byte) random.nextInt(256);
        read(target, other);
      }
    }
  }

  private List<byte[]> texts(String target) throws Exception {
    Class.forName(target)
        .getMethod("main", String[].class)
        .invoke(null, (Object) new String[] {folder.toString()});
    List<byte[]> texts = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.sorted().toList()) {
        texts.add(Files.readAllBytes(file));
      }
    }
    assertThat(texts).hasSizeGreaterThan(4);
    return texts;
  }

  private static void read(String target, byte[] text) throws ReflectiveOperationException {
    Method reader = Class.forName(target).getMethod("fuzzerTestOneInput", byte[].class);
    try {
      reader.invoke(null, (Object) text);
    } catch (InvocationTargetException failed) {
      throw new AssertionError(
          target + " fails on the bytes " + HexFormat.of().formatHex(text), failed.getCause());
    }
  }

  @ParameterizedTest
  @MethodSource("targets")
  @Tag("faults")
  void jazzerFindsNoTextThatAReaderFailsOn(String target) throws Exception {
    assumeTrue(Files.isDirectory(JAZZER), "Jazzer is not installed: run build/fuzz 1 once");
    List<byte[]> _ = texts(target);
    Path output = Files.createFile(folder.resolveSibling(folder.getFileName() + ".output"));
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx512m",
            "--enable-native-access=ALL-UNNAMED",
            "-XX:+EnableDynamicAgentLoading",
            "-cp",
            JAZZER.toAbsolutePath() + "/*:" + System.getProperty("java.class.path"),
            "com.code_intelligence.jazzer.Jazzer",
            "--target_class=" + target,
            "--instrumentation_includes=dev.coatcheck.**",
            "-max_total_time=" + SECONDS,
            "-max_len=" + LENGTH_MAX,
            "-timeout=" + TEXT_SECONDS_MAX,
            folder.toString());

    int status =
        new ProcessBuilder(command)
            .directory(Files.createDirectories(Path.of("target", "fuzz")).toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start()
            .waitFor();

    String said = Files.readString(output, StandardCharsets.ISO_8859_1);
    Files.delete(output);
    assertThat(status).as("%s%n%s", target, said).isZero();
    assertThat(said).contains("Done ");
  }
}
