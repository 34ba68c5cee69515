package dev.coatcheck;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The house stands as {@code docs/layout.md} says. */
class ArchitectureTest {
  private static final String ROOT = "dev.coatcheck";

  /** The program's sources, and those that it shares with the libraries for applications. */
  private static final List<Path> HOUSES =
      Stream.of(
              "src/main/java",
              "clients/java/coatcheck-id/src/main/java",
              "clients/java/coatcheck-client/src/main/java",
              "clients/java/coatcheck-keys/src/main/java")
          .map(folder -> Path.of(folder, "dev/coatcheck"))
          .toList();

  /** Of the table with three columns. */
  private static final Pattern ROW = Pattern.compile("\\| `([a-z.]+)` \\|[^|]+\\|[^|]+\\|");

  private static final JavaClasses CODE =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(ROOT);

  private static final JavaClasses TESTS =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.ONLY_INCLUDE_TESTS)
          .importPackages(ROOT);

  @Test
  void aRoomImportsOnlyRoomsAboveIt() throws IOException {
    List<String> order = order();

    assertThat(importsFromBelow(order)).isEmpty();
    assertThat(importsFromBelow(order.reversed())).hasSizeGreaterThan(1_000);
  }

  private static List<String> importsFromBelow(List<String> order) {
    return CODE.stream()
        .flatMap(type -> type.getDirectDependenciesFromSelf().stream())
        .filter(
            uses -> {
              int user = order.indexOf(room(uses.getOriginClass()));
              return user >= 0 && order.indexOf(room(uses.getTargetClass())) > user;
            })
        .map(Dependency::getDescription)
        .toList();
  }

  private static String room(JavaClass type) {
    String name = type.getBaseComponentType().getPackageName();
    return name.startsWith(ROOT + ".postgres.sql")
        ? "postgres.sql"
        : name.substring(Math.min(name.length(), ROOT.length() + 1));
  }

  @Test
  void everyRoomHasItsRowAndEveryRowItsRoom() throws IOException {
    List<String> rooms = new ArrayList<>();
    for (Path house : HOUSES) {
      try (Stream<Path> files = Files.walk(house)) {
        files
            .filter(file -> file.endsWith("package-info.java"))
            .map(file -> house.relativize(file.getParent()).toString().replace('/', '.'))
            .filter(room -> !room.isEmpty())
            .forEach(rooms::add);
      }
    }
    assertThat(rooms).containsExactlyInAnyOrderElementsOf(order());
    Set<String> folders =
        CODE.stream().map(JavaClass::getPackageName).collect(Collectors.toCollection(TreeSet::new));
    folders.removeIf(name -> name.equals(ROOT) || name.startsWith(ROOT + ".postgres.sql.schema"));
    assertThat(folders)
        .containsExactlyInAnyOrderElementsOf(
            order().stream().map(name -> ROOT + "." + name).toList());
  }

  @Test
  void idKnowsOnlyTheJdk() {
    classes()
        .that()
        .resideInAnyPackage(ROOT + ".core.id..", ROOT + ".id..")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            ROOT + ".core.id..", ROOT + ".id..", "java..", "javax.crypto..", "org.jspecify..")
        .check(CODE);
  }

  @Test
  void onlyStoresTalkToTheDatabase() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".postgres..")
        .and()
        .haveNameNotMatching(".*(Store|Table|LegacyKeyWriter)(\\$.*)?")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "org.jooq..", "java.sql..", "org.postgresql..", ROOT + ".postgres.sql.schema..")
        .check(CODE);
  }

  @Test
  void onlyTheApiKnowsJavalin() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".api..")
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

  /** A machine with two cores has one thread in the common pool: two tasks would take turns. */
  @Test
  void noTestWaitsForTheCommonPool() {
    noClasses()
        .should()
        .callMethod(CompletableFuture.class, "runAsync", Runnable.class)
        .orShould()
        .callMethod(CompletableFuture.class, "supplyAsync", Supplier.class)
        .because("an executor has to be named, as in runAsync(task, Thread::startVirtualThread)")
        .check(TESTS);
  }

  @Test
  void testsConnectThroughTestSql() {
    noClasses()
        .that()
        .doNotHaveSimpleName("TestSql")
        .and()
        .resideOutsideOfPackage(ROOT + ".bench..")
        .should()
        .dependOnClassesThat()
        .haveFullyQualifiedName("java.sql.DriverManager")
        .check(TESTS);
  }

  private static List<String> order() throws IOException {
    return Files.readAllLines(Path.of("docs/layout.md")).stream()
        .map(ROW::matcher)
        .filter(Matcher::matches)
        .map(row -> row.group(1))
        .toList();
  }
}
