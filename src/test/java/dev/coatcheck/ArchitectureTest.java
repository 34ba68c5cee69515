package dev.coatcheck;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The house stands as {@code docs/layout.md} says. */
class ArchitectureTest {
  private static final String ROOT = "dev.coatcheck";
  private static final int FILE_LINES_MAX = 400;
  private static final int PACKAGE_FILES_MAX = 25;
  private static final Pattern ROW = Pattern.compile("\\| [0-9]+ \\| `([a-z]+)` \\|.*");

  private static final JavaClasses CODE =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(ROOT);

  @Test
  void aPackageImportsOnlyPackagesAboveIt() throws IOException {
    List<String> order = order();
    for (int i = 0; i < order.size(); i++) {
      String[] below =
          order.subList(i + 1, order.size()).stream()
              .map(name -> ROOT + "." + name + "..")
              .toArray(String[]::new);
      if (below.length > 0) {
        noClasses()
            .that()
            .resideInAPackage(ROOT + "." + order.get(i) + "..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(below)
            .check(CODE);
      }
    }
  }

  @Test
  void theOrderCanFail() {
    ArchRule backwards =
        noClasses()
            .that()
            .resideInAPackage(ROOT + ".mapping..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage(ROOT + ".id..");
    assertThat(backwards.evaluate(CODE).hasViolation()).isTrue();
  }

  @Test
  void everyPackageHasItsRowAndEveryRowItsPackage() throws IOException {
    try (Stream<Path> folders = Files.list(Path.of("src/main/java/dev/coatcheck"))) {
      assertThat(folders.filter(Files::isDirectory).map(folder -> folder.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(order());
    }
  }

  @Test
  void idKnowsOnlyTheJdk() {
    classes()
        .that()
        .resideInAPackage(ROOT + ".id..")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(ROOT + ".id..", "java..", "javax.crypto..", "org.jspecify..")
        .check(CODE);
  }

  @Test
  void onlyStoresTalkToTheDatabase() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".db..")
        .and()
        .haveNameNotMatching(".*(Store|Table)(\\$.*)?")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.jooq..", "java.sql..", "org.postgresql..", ROOT + ".db.schema..")
        .check(CODE);
  }

  @Test
  void onlyTheHttpRoomsKnowJavalin() {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            ROOT + ".exchange..", ROOT + ".entrance..", ROOT + ".runs..", ROOT + ".http..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.javalin..", "org.eclipse.jetty..", "jakarta.servlet..")
        .check(CODE);
  }

  @Test
  void storesArePackagePrivate() {
    classes()
        .that()
        .haveSimpleNameEndingWith("Store")
        .should()
        .notHaveModifier(JavaModifier.PUBLIC)
        .check(CODE);
  }

  @Test
  void namesSaySomething() {
    classes()
        .should(
            com.tngtech.archunit.lang.conditions.ArchConditions.not(
                com.tngtech.archunit.lang.conditions.ArchConditions.be(
                    DescribedPredicate.describe(
                        "named after nothing",
                        (JavaClass type) ->
                            type.getSimpleName()
                                .matches(".*(Impl|Manager|Service|Utils?|Helper|Dto)")))))
        .check(CODE);
  }

  @Test
  void filesAndPackagesStaySmall() throws IOException {
    List<String> large = new ArrayList<>();
    try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        try (Stream<String> lines = Files.lines(file)) {
          if (lines.count() > FILE_LINES_MAX) {
            large.add(file.toString());
          }
        }
      }
    }
    for (String name : order()) {
      try (Stream<Path> files = Files.list(Path.of("src/main/java/dev/coatcheck", name))) {
        if (files.count() > PACKAGE_FILES_MAX) {
          large.add(name);
        }
      }
    }
    assertThat(large).isEmpty();
  }

  private static List<String> order() throws IOException {
    return Files.readAllLines(Path.of("docs/layout.md")).stream()
        .map(ROW::matcher)
        .filter(Matcher::matches)
        .map(row -> row.group(1))
        .toList();
  }
}
