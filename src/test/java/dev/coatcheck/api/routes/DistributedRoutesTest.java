package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.TestJvm;
import dev.coatcheck.postgres.sql.CitusRules;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.console.ConsoleLauncher;

/** The tests of routes once more, where the large tables are distributed. */
class DistributedRoutesTest {
  /** Mints, resolves, look-ups, aliases, imports, endings, erasures and Idempotency-Keys. */
  private static final String SHORTEST = ".*[.](OneKey|ErasureRoutes|IdempotencyRoutes)Test";

  /** Those that take seconds for a number or a race, and send the same statements as others. */
  private static final String LONG =
      ".*ErasureRoutesTest#(aSurvivorOfMoreThanAThousand|anotherInstance|anErasureRaces).*";

  private static final String NONE = "none";

  private static final String PROMISES =
      ".*[.](OneKey|AliasRoutes|EndingRoutes|ErasureRoutes|IdempotencyRoutes|Twins|Endpoints"
          + "|LegacyRoutes|TransferRoutes)Test";

  /**
   * All that send statements about distributed tables; some look at plans or locks of one table.
   */
  private static final String ALL =
      ".*[.](OneKey|EveryOperation|AliasRoutes|EndingRoutes|ErasureRoutes|IdempotencyRoutes"
          + "|OnceEverywhere|Twins|Endpoints|LegacyRoutes|LegacyUrls|TransferRoutes|UrlRoutes|SealedRoutes|OlderIds"
          + "|KeyRoutes|SegmentRoutes|TypePolicies)Test";

  @Test
  void mintsErasuresAndRepeatedRequestsWorkOnPartitionsAndCitusRefusesNoneOfTheirStatements(
      @TempDir Path folder) throws Exception {
    requireOnPartitions(SHORTEST, LONG, folder);
  }

  @Test
  @Tag("faults") // over a minute on a busy machine
  void thePromisesHoldOnPartitionsAndNoStatementIsOneThatCitusRefuses(@TempDir Path folder)
      throws Exception {
    requireOnPartitions(PROMISES, NONE, folder);
  }

  private static void requireOnPartitions(String classes, String without, Path folder)
      throws Exception {
    TestDatabase server = TestDatabase.empty();
    server.sql().execute("create extension pg_stat_statements");
    Set<Long> before = new HashSet<>(databases(server));

    run(
        folder,
        "partitioned",
        classes,
        without,
        Map.of(
            "COATCHECK_TEST_DATABASE_URL", server.url().replaceAll("/[^/?]+(\\?.*)?$", "/postgres"),
            "COATCHECK_TEST_DATABASE_USER", server.user(),
            "COATCHECK_TEST_DATABASE_PASSWORD", server.password()));

    List<String> sent =
        server
            .sql()
            .texts(
                "select query from pg_stat_statements"
                    + " where userid = 'coatcheck_test_lesser'::regrole and dbid <> all('{%s}')"
                        .formatted(
                            String.join(",", before.stream().map(String::valueOf).toList())));
    assertThat(sent).anyMatch(one -> one.contains("coatcheck.alias")).hasSizeGreaterThan(50);
    List<String> refused = new ArrayList<>();
    sent.forEach(one -> CitusRules.refusal(one).ifPresent(why -> refused.add(why + ": " + one)));
    assertThat(refused).isEmpty();
  }

  private static List<Long> databases(TestDatabase server) {
    return server.sql().numbers("select distinct dbid::bigint from pg_stat_statements");
  }

  @Test
  @Tag("faults") // minutes: each class makes databases on each node
  void everyOperationWorksOnCitus(@TempDir Path folder) throws Exception {
    String url = System.getenv("COATCHECK_TEST_CITUS_URL");
    assumeTrue(url != null, "COATCHECK_TEST_CITUS_URL names no coordinator of a Citus cluster");
    run(folder, "citus", ALL, NONE, Map.of());
  }

  private static void run(
      Path folder, String tables, String classes, String without, Map<String, String> environment)
      throws Exception {
    Path output = folder.resolve("output");
    ProcessBuilder builder =
        TestJvm.running(
            ConsoleLauncher.class,
            "execute",
            "--select-package=dev.coatcheck.api.routes",
            "--include-classname=" + classes,
            "--exclude-methodname=" + without,
            "--exclude-tag=faults",
            "--exclude-tag=clients",
            "--disable-banner",
            "--disable-ansi-colors",
            "--details=tree",
            "--fail-if-no-tests");
    List<String> options =
        new ArrayList<>(
            List.of(
                "@build/test.jvm",
                "-Xmx512m",
                "-Dcoatcheck.test.tables=" + tables,
                "-Dcoatcheck.test.fork=" + tables));
    if (tables.equals("partitioned")) {
      options.add("-Dcoatcheck.test.role=lesser"); // tells the gateway's statements from ours
    }
    builder.command().addAll(builder.command().indexOf("-cp"), options);
    builder.environment().putAll(environment);
    builder.environment().remove("CI"); // what needs a role that owns tables may be skipped here

    int status =
        builder.redirectErrorStream(true).redirectOutput(output.toFile()).start().waitFor();

    assertThat(status).as(() -> said(output)).isZero();
  }

  private static String said(Path output) {
    try {
      return Files.readString(output, StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new AssertionError(unreadable);
    }
  }
}
