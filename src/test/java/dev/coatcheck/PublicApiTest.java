package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What the libraries of {@code clients/java} promise to applications is written down in the file
 * {@code api.txt} of each, so that a review sees each change: a line that goes or changes needs a
 * new major version. {@code -Ddocs=write} writes the files.
 */
class PublicApiTest {
  private static final Pattern DEPENDENCY = Pattern.compile("(?s)<dependency>(.*?)</dependency>");

  /** Their scopes are those of the parent: provided or test. */
  private static final Set<String> OF_THE_BUILD =
      Set.of("jspecify", "junit-jupiter", "assertj-core");

  @ParameterizedTest
  @CsvSource({"coatcheck-id, id", "coatcheck-client, client", "coatcheck-keys, keys"})
  void thePublicApiOfALibraryIsTheOneThatIsWrittenDown(String library, String room)
      throws IOException, ClassNotFoundException {
    Path folder = Path.of("clients/java", library);
    List<String> lines = new ArrayList<>();
    try (Stream<Path> files =
        Files.list(folder.resolve("src/main/java/dev/coatcheck").resolve(room))) {
      for (String name :
          files
              .map(file -> file.getFileName().toString().replace(".java", ""))
              .filter(name -> !name.equals("package-info"))
              .sorted()
              .toList()) {
        describe(Class.forName("dev.coatcheck." + room + "." + name), lines);
      }
    }
    String api = String.join("\n", lines) + "\n";
    Path file = folder.resolve("api.txt");
    if ("write".equals(System.getProperty("docs"))) {
      Files.writeString(file, api);
    }
    assertThat(file).content().isEqualTo(api);
  }

  /** Beside what compiles and tests it, and what it uses if the application has it. */
  @ParameterizedTest
  @CsvSource({
    "coatcheck-id,",
    "coatcheck-client, coatcheck-id jackson-core",
    "coatcheck-keys,",
  })
  void aLibraryBringsNoOtherThanThese(String library, @Nullable String others) throws IOException {
    String pom = Files.readString(Path.of("clients/java", library, "pom.xml"));

    assertThat(
            DEPENDENCY
                .matcher(pom)
                .results()
                .map((MatchResult dependency) -> dependency.group(1))
                .filter(dependency -> !dependency.matches("(?s).*>(true</optional|test</scope)>.*"))
                .map(dependency -> dependency.replaceAll("(?s).*<artifactId>|</artifactId>.*", ""))
                .filter(dependency -> !OF_THE_BUILD.contains(dependency)))
        .containsExactlyElementsOf(others == null ? List.of() : List.of(others.split(" ", -1)));
  }

  private static void describe(Class<?> type, List<String> lines) {
    if (!isPromised(type.getModifiers())) {
      return;
    }
    lines.add(type.toGenericString());
    Stream.<Member[]>of(
            type.getDeclaredFields(), type.getDeclaredConstructors(), type.getDeclaredMethods())
        .flatMap(Arrays::stream)
        .filter(member -> isPromised(member.getModifiers()) && !member.isSynthetic())
        .map(PublicApiTest::signature)
        .sorted()
        .forEach(signature -> lines.add("  " + signature));
    Stream.of(type.getDeclaredClasses())
        .sorted((one, other) -> one.getName().compareTo(other.getName()))
        .forEach(nested -> describe(nested, lines));
  }

  private static String signature(Member member) {
    return member instanceof Executable executable
        ? executable.toGenericString()
        : ((Field) member).toGenericString();
  }

  private static boolean isPromised(int modifiers) {
    return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
  }
}
