package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Setting;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What {@code docs/operations.md} has operators run on other machines, held against the code. */
class OperationsPageTest {
  @RegisterExtension
  static final GatewayFixture GATEWAY = GatewayFixture.own("COATCHECK_MANAGEMENT_PORT", "0");

  /** As the page says of the stop. */
  private static final int STOP_SECONDS = 30;

  @TempDir Path folder;

  @Test
  void theManifestForKubernetesIsOneThatTheGatewayTakes() throws Exception {
    String manifest = block("Kubernetes", "yaml");
    JsonNode pod = documents(manifest).getFirst().at("/spec/template/spec");
    JsonNode container = pod.at("/containers/0");
    Map<String, String> environment = environment(container);

    assertThat(Arrays.stream(Setting.values()).map(Setting::variable).toList())
        .containsAll(environment.keySet());
    assertThat(Config.read(environment, Map.of())).isInstanceOf(Config.Parsed.Valid.class);
    for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
      JsonNode get = container.at("/" + probe + "/httpGet");
      assertThat(get.at("/port").stringValue()).isEqualTo("management");
      assertThat(status(GATEWAY.managementUri().resolve(get.at("/path").stringValue())))
          .as(probe)
          .isEqualTo(200);
    }
    assertThat(container.at("/ports/1/containerPort").asString())
        .isEqualTo(environment.get("COATCHECK_MANAGEMENT_PORT"));
    assertThat(pod.at("/terminationGracePeriodSeconds").intValue())
        .isEqualTo(
            STOP_SECONDS
                + Integer.parseInt(
                    container.at("/lifecycle/preStop/exec/command/1").stringValue()));
    assertThat(Pattern.compile("image:").matcher(manifest).results()).hasSize(1);
    assertThat(container.at("/image").stringValue()).endsWith("/coatcheck:" + version());
  }

  /** Why the manifest turns them off. */
  @Test
  void aLinkOfAServiceOfOurNameIsRefused() throws IOException {
    JsonNode documents = documents(block("Kubernetes", "yaml")).getFirst();

    assertThat(documents.at("/spec/template/spec/enableServiceLinks").booleanValue()).isFalse();
    assertThat(Config.read(Map.of("COATCHECK_PORT", "tcp://10.0.0.1:8080"), Map.of()))
        .isInstanceOf(Config.Parsed.Invalid.class);
  }

  @Test
  void theTablesForLeavingSayWhatTheGatewaySays() throws IOException {
    var client = GATEWAY.client();
    client.put(TestType.of("charge", "ch").with("generate", "none"));
    client.put(TestType.of("user", "usr").uuids());
    String active = client.mint("charge", "key", "1").text("/id");
    String revoked = client.mint("charge", "key", "2").text("/id");
    String merged = client.mint("charge", "key", "3").text("/id");
    String mergedIntoRevoked = client.mint("charge", "key", "4").text("/id");
    String user =
        client.mint("user", "client_id", "0b0fdb0d-6d9a-4b57-9c76-4b1d6e4f2a10").text("/id");
    client.send("PUT", "/v1/ids/" + active + "/aliases/legacy/4711", null);
    client.post("/v1/ids/" + merged + "/merge", "{\"into\":\"" + active + "\"}");
    client.post("/v1/ids/" + mergedIntoRevoked + "/merge", "{\"into\":\"" + revoked + "\"}");
    client.post("/v1/ids/" + revoked + "/revoke", "{}");

    GATEWAY.execute(Files.readString(Path.of("ops/sql/coatcheck-id.sql")));
    GATEWAY.execute("set search_path = public;" + block("Leaving Coatcheck", "sql"));

    for (String id : List.of(active, revoked, merged, mergedIntoRevoked, user)) {
      var reply = client.hostile().get("/v1/ids/" + id);
      assertThat(
              GATEWAY
                  .sql()
                  .text(
                      "select coalesce(key, 'ended') from public.exported_id where public_id = '%s'"
                          .formatted(id)))
          .isEqualTo(reply.status() == 410 ? "ended" : reply.text("/key"));
    }
    assertThat(
            GATEWAY
                .sql()
                .texts(
                    "select scheme || ' ' || value || ' ' || public_id from public.exported_alias"
                        + " order by 1"))
        .containsExactly(
            "client 0b0fdb0d-6d9a-4b57-9c76-4b1d6e4f2a10 " + user, "legacy 4711 " + active);
    assertThat(GATEWAY.count("select count(*) from public.exported_id")).isEqualTo(5);
    assertThat(
            GATEWAY
                .sql()
                .text(
                    "select coatcheck_id.coatcheck_valid(coatcheck_id.coatcheck_format('ch',"
                        + " gen_random_uuid()))"))
        .isEqualTo("t");
  }

  private Map<String, String> environment(JsonNode container) throws IOException {
    Map<String, String> environment = new HashMap<>();
    for (JsonNode variable : container.at("/env")) {
      environment.put(variable.at("/name").stringValue(), variable.at("/value").stringValue());
    }
    Path password = Files.writeString(folder.resolve("password"), "secret");
    environment.put("COATCHECK_DATABASE_PASSWORD_FILE", password.toString());
    return environment;
  }

  private static int status(URI uri) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding())
          .statusCode();
    }
  }

  private static String version() throws IOException {
    return Pattern.compile("<version>([\\d.]+)")
        .matcher(Files.readString(Path.of("build/pom.xml")))
        .results()
        .map(version -> version.group(1))
        .findFirst()
        .orElseThrow();
  }

  private static List<JsonNode> documents(String yaml) {
    JsonMapper json = new JsonMapper();
    Iterable<Object> documents = new Load(LoadSettings.builder().build()).loadAllFromString(yaml);
    return StreamSupport.stream(documents.spliterator(), false)
        .<JsonNode>map(json::valueToTree)
        .toList();
  }

  /** The first block of a language under a heading of the page. */
  private static String block(String heading, String language) throws IOException {
    String page = Files.readString(Path.of("docs/operations.md"));
    String section = page.split("\n## " + heading + "\n", 2)[1];
    return Pattern.compile("(?s)\n```" + language + "\n(.*?)```\n")
        .matcher(section)
        .results()
        .map((MatchResult block) -> block.group(1))
        .findFirst()
        .orElseThrow();
  }
}
