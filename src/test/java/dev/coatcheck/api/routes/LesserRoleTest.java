package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertPut;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.TestJvm;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.console.ConsoleLauncher;

/** A gateway whose role may use the schema and doesn't own it. */
class LesserRoleTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.asLesserRole();

  private static final TestClient API = GATEWAY.client();

  @Test
  void itServesWhatAnOwnerServes() {
    assertPut(
        API.put(
            TestType.of("charge", "ch")
                .redirect("https://shop.example/{id}")
                .with("legacy", Map.of())));
    assertPut(API.put(TestType.of("person", "usr").uuids().with("generate", "uuidv7")));
    assertThat(API.patch("/v1/types/charge", "{\"on_outage\":\"refuse\"}").status()).isEqualTo(200);

    TestClient idempotent = API.with("Idempotency-Key", "lesser-role");
    String id = idempotent.mint("charge", "legacy_id", "4711").text("/id");
    assertThat(idempotent.mint("charge", "legacy_id", "4711").text("/id")).isEqualTo(id);
    String other = API.mint("charge").text("/id");
    assertThat(API.mint("person").status()).isEqualTo(201);
    assertThat(API.get("/v1/ids/" + id).status()).isEqualTo(200);
    assertThat(API.anonymous().get("/legacy/charge/4711").status()).isIn(301, 302, 308);
    assertThat(API.delete("/v1/ids/" + id + "/aliases/legacy/4711").status()).isIn(200, 204);
    assertThat(API.post("/v1/ids/" + other + "/merge", json("into", id)).status()).isEqualTo(200);
    assertThat(API.post("/v1/ids/" + id + "/revoke", json("reason", "test")).status())
        .isEqualTo(200);
    Awaitility.await().until(() -> API.get("/v1/ids/" + id).status() == 410);
  }

  /** Of a type whose table was migrated, so that runs tell of its rows. */
  @Test
  void itErasesWhatRunsTellOf() {
    assertPut(API.put(TestType.of("told", "tld")));
    GATEWAY.execute(
        """
        insert into coatcheck.table_migration (
          source, table_oid, table_schema, table_name, first_schema, first_name, key_column,
          key_type, key_attnum, application_path, type_id, keep_primary_key, plan,
          throttle_settings, started_at)
        select 'shop', 1, 'public', 'told', 'public', 'told', 'id', 'bigint', 1, '', type_id, false,
               '{}', '{}', now()
          from coatcheck.type where name = 'told'
        """);
    String id = API.mint("told", "legacy_id", "4712").text("/id");

    assertThat(API.send("POST", "/v1/ids/" + id + "/erase", null).status()).isEqualTo(200);
    Awaitility.await().until(() -> API.get("/v1/ids/" + id).status() == 410);
  }

  @Test
  void itImportsExportsAndMakesKeys() {
    assertPut(API.put(TestType.of("moved", "mv")));
    assertThat(
            API.with("Content-Type", "text/csv")
                .post("/v1/imports", "type,key,legacy_id\nmoved,1,11\nmoved,2,12\n")
                .status())
        .isEqualTo(200);
    assertThat(API.get("/v1/exports?type=moved").body().stringValue()).contains("moved,2,12,");
    assertThat(API.put("/v1/segments/lesser", json("bits", 32)).status()).isEqualTo(201);
    assertThat(
            API.post("/v1/keys", json("scheme", "segment", "tag", "lesser", "count", 3)).status())
        .isEqualTo(200);
    assertThat(API.post("/v1/keys", json("scheme", "snowflake", "count", 3)).status())
        .isEqualTo(200);
    assertThat(
            API.post(
                    "/v1/keys",
                    json("scheme", "snowflake", "count", 3, "at", "2026-02-03T04:05:06Z"))
                .status())
        .isEqualTo(200);
    assertThat(API.get("/v1/workers").status()).isEqualTo(200);
    GATEWAY.revokeKey(GATEWAY.keyWith(Scope.ALL));
  }

  /** Those of table migrations need a role that owns tables, which is said of their source. */
  @Test
  @Tag("faults") // the tests of all routes once more, in a JVM of their own
  void allRoutesPassTheirTestsAsThisRole(@TempDir Path folder) throws Exception {
    Path output = folder.resolve("output");
    ProcessBuilder builder =
        TestJvm.running(
            ConsoleLauncher.class,
            "execute",
            "--select-package=dev.coatcheck.api.routes",
            "--exclude-package=dev.coatcheck.api.routes.migrations",
            "--exclude-classname=.*[.](AccessMatrix|AuditCompleteness|DocumentedOutcomes|LesserRole)Test",
            "--exclude-tag=faults",
            "--exclude-tag=clients",
            "--exclude-tag=owns-tables",
            "--disable-banner",
            "--details=summary",
            "--fail-if-no-tests");
    builder
        .command()
        .addAll(
            builder.command().indexOf("-cp"),
            List.of(
                "@build/test.jvm",
                "-Xmx512m",
                "-Dcoatcheck.test.role=lesser",
                "-Dcoatcheck.test.fork=lesser"));

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
