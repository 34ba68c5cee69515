package dev.coatcheck;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.app.cli.Terminal;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The package in {@code clients/typescript}, whose own tests run against a gateway. */
@Tag("clients")
@Timeout(600)
class TypeScriptClientTest {
  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.withOldTypes(
          TestType.of("kept", "kept")
              .with("generate", "none")
              .with(
                  "public_pattern",
                  Map.of(
                      "text_prefix",
                      "old-",
                      "alphabet",
                      "0123456789",
                      "min_length",
                      8,
                      "max_length",
                      8)));

  /** That of an application, for the recipes. */
  private static final TestDatabase DATABASE = TestDatabase.empty();

  private static NodeProject client;

  @BeforeAll
  static void build() throws IOException {
    NodeProject.requireNode();
    client =
        NodeProject.copy(
            Path.of("clients", "typescript"), Path.of("target", "clients", "node", "client"));
    client.install();
    client.npm("run", "build");
    client.node(Map.of(), "node_modules/typescript/bin/tsc", "-p", "test/tsconfig.json");
  }

  @Test
  void itKeepsItsPromisesAgainstAGateway() throws IOException {
    passes(client, environment());
  }

  /** A page of 500 rows is one call, and a row is found by its public ID alone. */
  @Test
  void theRecipesOfItsReadmeRun() throws IOException {
    NodeProject recipes = new NodeProject(client.folder().resolve("recipes"));
    recipes.install();
    recipes.npm("run", "build");

    passes(recipes, environment());
  }

  /** It finds its packages where those of the recipes are, so it asks for the same versions. */
  @Test
  void theSampleChatRuns() throws IOException {
    NodeProject recipes = new NodeProject(client.folder().resolve("recipes"));
    recipes.install();
    NodeProject chat =
        NodeProject.copy(Path.of("examples", "node-chat"), recipes.folder().resolve("node-chat"));
    assertThat(recipes.versions()).containsAllEntriesOf(chat.versions());
    chat.node(
        Map.of("PRISMA_SCHEMA_ENGINE_BINARY", "/bin/true", "CHECKPOINT_DISABLE", "1"),
        "../node_modules/prisma/build/index.js",
        "generate",
        "--schema=schema.prisma");
    chat.node(Map.of(), "../node_modules/typescript/bin/tsc", "-p", ".");

    passes(chat, environment());
  }

  /** As an application has it: the module names the package, which finds itself by its exports. */
  @Test
  void theModuleThatTheCommandLineGeneratesCompiles() throws IOException {
    NodeProject application = new NodeProject(client.folder().resolve("generated"));
    Files.createDirectories(application.folder());
    Path types =
        Files.writeString(
            application.folder().resolve("types.yaml"),
            "types: {charge: {prefix: ch, key: bigint}, line_item: {prefix: li, key: uuid}}");
    Terminal generated =
        Terminal.run(
            "types",
            "generate",
            "typescript",
            "--file=" + types,
            "--to=" + application.folder().resolve("public-ids.ts"));
    assertThat(generated.err()).isEmpty();
    Files.writeString(
        application.folder().resolve("use.ts"),
        """
        import { type ChargeId, chargeType, type LineItemId, lineItemType } from './public-ids.js';

        const charge: ChargeId = chargeType.of('ch_4KIWSf8WvPNoQDBwStVIDYHU');
        // @ts-expect-error: a public ID of another type
        const item: LineItemId = charge;
        console.log(item, lineItemType.prefix satisfies string);
        """);

    application.node(
        Map.of(),
        "../node_modules/typescript/bin/tsc",
        "--strict",
        "--noEmit",
        "--module",
        "nodenext",
        "--target",
        "es2022",
        "public-ids.ts",
        "use.ts");
  }

  private static void passes(NodeProject project, Map<String, String> environment)
      throws IOException {
    List<String> tests = tests(project.folder().resolve("compiled"));
    assertThat(tests).isNotEmpty();
    String output =
        project.node(
            environment,
            Stream.concat(Stream.of("--test", "--test-reporter=tap"), tests.stream())
                .toArray(String[]::new));
    System.out.println(
        project.folder().getFileName()
            + " "
            + output.lines().filter(line -> line.matches("# (tests|pass|fail) .*")).toList());
    assertThat(output).contains("\n# fail 0\n").doesNotContain("\n# pass 0\n");
  }

  private static Map<String, String> environment() {
    return Map.of(
        "COATCHECK_URL",
        GATEWAY.uri().toString().replaceFirst("/$", ""),
        "COATCHECK_API_KEY",
        GATEWAY.key(),
        "COATCHECK_VECTORS",
        Path.of("src", "test", "resources", "vectors").toAbsolutePath().toString(),
        "DATABASE_URL",
        databaseUrl());
  }

  /** Of the application, in the form that its drivers take. */
  private static String databaseUrl() {
    String server =
        DATABASE.url().replaceFirst("^jdbc:postgresql://", "").replaceFirst("[?].*", "");
    return "postgresql://%s:%s@%s"
        .formatted(
            URLEncoder.encode(DATABASE.user(), UTF_8),
            URLEncoder.encode(DATABASE.password(), UTF_8),
            server);
  }

  private static List<String> tests(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.map(Path::toString).filter(file -> file.endsWith(".test.js")).sorted().toList();
    }
  }
}
