package dev.coatcheck.app.cli;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.core.seal.TestSealKeys;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code types plan}, {@code apply} and {@code export}. */
class TypesAsCodeTest {
  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.own("COATCHECK_SEAL_KEYS_FILE", TestSealKeys.file().toString());

  private static final Path KEY = TestDatabase.fileWith(GATEWAY.key());

  private static final String SALT = "the salt that stays secret";

  @TempDir Path folder;

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("types.yaml"), text);
  }

  private Terminal plan(String text) throws IOException {
    return run("plan", "-f", file(text).toString());
  }

  /** As often as a busy machine needs, with what all runs printed. */
  private Terminal apply(String text, String... more) throws IOException {
    StringBuilder out = new StringBuilder();
    Terminal done;
    do {
      done = applyOnce(text, more);
      out.append(done.out());
    } while (done.saysAgain());
    return new Terminal(done.status(), out.toString(), done.err());
  }

  private Terminal applyOnce(String text, String... more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("apply", "-f", file(text).toString()));
    arguments.addAll(List.of(more));
    return Terminal.runOnce(atGateway(arguments));
  }

  /** A verb of types at this gateway. */
  private static Terminal run(String... arguments) {
    return Terminal.run(atGateway(List.of(arguments)));
  }

  private static String[] atGateway(List<String> arguments) {
    List<String> all = new ArrayList<>(List.of("types"));
    all.addAll(arguments);
    if (all.stream().noneMatch(argument -> argument.startsWith("--url="))) {
      all.add("--url=" + GATEWAY.uri());
    }
    all.add("--key-file=" + KEY);
    return all.toArray(String[]::new);
  }

  /** Changes are told; on a busy machine one can be done whose answer came too late. */
  private static void assertTold(Terminal applied, String... lines) {
    for (String line : lines) {
      assertThat(applied.lines())
          .containsAnyOf(line, line.substring(0, line.indexOf(':')) + ": unknown");
    }
  }

  @Test
  void aTypeIsPlannedCreatedChangedAndThenThereIsNoDifference() throws IOException {
    String first =
        """
        types:
          crate:
            prefix: crt
            key: bigint
            redirect:
              template: https://shop.example/crates/{id}
        """;
    String second = first + "      max_age_seconds: 60\n";

    Terminal created = plan(first);
    assertThat(created.err()).isEmpty();
    assertThat(created.status()).isEqualTo(3);
    assertThat(created.lines())
        .contains("crate: new", "  + prefix crt")
        .anyMatch(line -> line.startsWith("1 to create, 0 to change, 0 unchanged, "));
    assertThat(run("get", "crate").err()).contains("(type_unknown)");

    Terminal done = apply(first);
    assertThat(done.err()).isEmpty();
    assertThat(done.status()).isZero();
    assertTold(done, "crate: created, version 1");
    assertThat(plan(first).status()).isZero();

    Terminal differs = plan(second);
    assertThat(differs.status()).isEqualTo(3);
    assertThat(differs.lines())
        .containsSequence(
            "crate: differs", "  - redirect.max_age_seconds 0", "  + redirect.max_age_seconds 60");
    assertTold(apply(second), "crate: changed, version 2");
    assertThat(apply(second).lines()).noneMatch(line -> line.startsWith("crate"));
    assertThat(plan(second).status()).isZero();

    Terminal none = plan("types: {}");
    assertThat(none.status()).isZero();
    assertThat(none.lines()).contains("crate: not in the file, left alone");
    assertThat(apply("types: {}").lines()).contains("crate: not in the file, left alone");
    assertThat(run("get", "crate").status()).isZero();
  }

  /** A type for each policy, so that what one of them is read and written as shows. */
  private static String everyPolicy() {
    return """
    # A comment.
    types:
      person: {prefix: per, key: uuid}
      link:
        prefix: lnk
        key: bigint
        redirect:
          template: https://shop.example/l/{id}/{key}
          status: 308
          max_age_seconds: 60
          public: false
          expose_key: true
        legacy:
          status: 301
          public: false
          max_id: "4711"
          deprecated_at: 2026-01-01T00:00:00Z
          sunset_at: 2099-01-01T00:00:00+01:00
          max_age_seconds: 3600
          sunset_link: https://shop.example/sunset
          brownouts:
            - {from: 2098-01-01T00:00:00Z, to: 2098-01-01T01:00:00Z}
            - from: 2098-02-01T00:00:00Z
              to: 2098-02-01T01:00:00Z
              answer: 410
          brownouts_exempt: [key_2bN8Qx0LmT4a]
        dead_link:
          default_language: en
          title: {en: "Sold: gone", no: Solgt}
          text: {en: Ask us., no: "Sp\u00f8r oss."}
        url_templates: ["/links/{legacy:link}", "/l/{legacy:link}/more"]
        client_names: shared
        on_outage: refuse
        stale_seconds_max: 7
      listed:
        prefix: lst
        key: bigint
        redirect: {template: "https://shop.example/{id}"}
        legacy: {}
        fallback_url: https://shop.example/all
        public_pattern: {text_prefix: lst-, alphabet: 0123456789abcdef, min_length: 16, max_length: 16}
        client_names: required
      hashed:
        prefix: hsh
        key: bigint
        public_rule: {scheme: hashids, text_prefix: h-, min_length: 8, salt: {file: salt.txt}}
      squid:
        prefix: sqd
        key: bigint
        public_rule: {scheme: sqids, text_prefix: s-, min_length: 6}
      typed:
        prefix: typ
        key: uuid
        public_rule: {scheme: typeid, prefix: account}
      unique:
        prefix: unq
        key: uuid
        generate: none
        public_rule: {scheme: uuid, text_prefix: u-}
      numbered: {prefix: num, key: bigint, generate: segment, tag: numbers}
      laid_out: {prefix: lay, key: bigint, layout: 41/10/12@1577836800000}
      covered:
        prefix: cov
        key: bigint
        sealed: {from: 2023-01-01T00:00:00Z, seal_key: "%s"}
      gone: {prefix: gon, key: bigint, retired: true}
    """
        .formatted(TestSealKeys.FIRST);
  }

  @Test
  void whatIsExportedHasNoDifference() throws IOException {
    Files.writeString(folder.resolve("salt.txt"), SALT + "\n");
    GATEWAY.client().put("/v1/segments/numbers", "{}");
    Terminal applied = apply(everyPolicy());
    assertThat(applied.err()).isEmpty();
    assertThat(applied.status()).isZero();
    assertThat(plan(everyPolicy()).status()).isZero();

    Terminal exported = run("export");

    assertThat(exported.status()).isZero();
    assertThat(exported.err()).contains("COATCHECK_SALT_HASHED").doesNotContain(SALT);
    assertThat(exported.out())
        .doesNotContain(SALT)
        .contains("env: COATCHECK_SALT_HASHED")
        .contains("client_names: shared")
        .doesNotContain("version", "created_at", "null", "expose_key: false");
    assertThat(plan(exported.out()).err())
        .contains("hashed.public_rule.salt: The variable COATCHECK_SALT_HASHED is not set");
    String file = exported.out().replace("env: COATCHECK_SALT_HASHED", "file: salt.txt");
    Terminal planned = plan(file);
    assertThat(planned.err()).isEmpty();
    assertThat(planned.lines()).noneMatch(line -> line.endsWith(": differs"));
    assertThat(planned.status()).isZero();

    Files.writeString(folder.resolve("salt.txt"), "another salt");
    Terminal differs = plan(file);
    assertThat(differs.status()).isEqualTo(3);
    assertThat(differs.out())
        .contains("hashed: differs\n  ~ public_rule.salt differs (hidden)\n")
        .doesNotContain(SALT, "another salt");
    assertThat(run("plan", "--json", "-f", folder.resolve("types.yaml").toString()).out())
        .doesNotContain(SALT, "another salt");
  }

  @Test
  void whatOneTypeIsRefusedForDoesNotKeepTheOthersFromBeingDone() throws IOException {
    TestClient client = GATEWAY.client();
    client.put(TestType.of("holder", "hld"));
    // A busy instance may know a type only when it is asked for it.
    Awaitility.await().until(() -> client.get("/v1/types/holder").status() == 200);
    String file =
        """
        types:
          wanting: {prefix: hld, key: bigint}
          first: {prefix: fst, key: bigint, redirect: {template: "https://shop.example/{id}"}}
          holder: {prefix: hld, key: uuid}
          second: {prefix: snd, key: uuid}
        """;

    Terminal applied = apply(file);

    assertThat(applied.status()).isEqualTo(1);
    assertTold(applied, "first: created, version 1", "second: created, version 1");
    assertThat(applied.lines())
        .contains("wanting: refused", "holder: refused")
        .noneMatch(line -> line.startsWith("wanting: created"));
    assertThat(applied.err())
        .contains(
            "coatcheck types apply: wanting: ",
            "(prefix_taken)",
            "coatcheck types apply: holder: ",
            "(immutable_field)");
    Terminal again = apply(file);
    assertThat(again.status()).isEqualTo(1);
    assertThat(again.lines()).noneMatch(line -> line.contains(": created"));
    Terminal planned = plan(file);
    assertThat(planned.lines())
        .contains("wanting: new", "holder: differs", "  ! key can't be changed")
        .anyMatch(
            line ->
                line.startsWith("  ! would be refused now: ") && line.contains("(prefix_taken)"));
    assertThat(planned.out()).doesNotContain("immutable_field");
  }

  @Test
  void aChangeThatTakesAnotherOneIsDoneAfterIt() throws IOException {
    String file =
        """
        types:
          branch: {prefix: brn, key: bigint, url_templates: ["/tree/{legacy:tree}/{legacy:branch}"]}
          tree: {prefix: tre, key: bigint, url_templates: ["/tree/{legacy:tree}"]}
        """;
    assertTold(apply(file), "tree: created, version 1", "branch: created, version 1");

    // The template moves from the second type to the first.
    String moved =
        """
        types:
          branch: {prefix: brn, key: bigint, url_templates: ["/tree/{legacy:branch}"]}
          tree: {prefix: tre, key: bigint}
        """;
    Terminal applied = apply(moved);
    assertThat(applied.err()).isEmpty();
    assertThat(applied.status()).isZero();
    assertThat(plan(moved).status()).isZero();
  }

  @Test
  void aKeyThatMayOnlyReadPlansWithoutTheRefusals() throws IOException {
    String reader =
        GATEWAY
            .client()
            .post("/v1/access/keys", json("name", "ci", "scopes", List.of("types:read")))
            .text("/secret");
    Path key = Files.writeString(folder.resolve("reader"), reader);

    Terminal planned =
        Terminal.run(
            "types",
            "plan",
            "--file=" + file("types: {barrel: {prefix: brl, key: bigint}}"),
            "--url=" + GATEWAY.uri(),
            "--key-file=" + key);

    assertThat(planned.err()).isEmpty();
    assertThat(planned.status()).isEqualTo(3);
    assertThat(planned.lines())
        .contains("barrel: new")
        .anyMatch(line -> line.endsWith("the gateway was not asked what it would refuse."));
  }

  @Test
  void linksEndOnlyIfThatIsConfirmed() throws IOException {
    String file =
        """
        types:
          bookmark: {prefix: bkm, key: bigint, redirect: {template: "https://shop.example/{id}"}}
        """;
    assertThat(apply(file).status()).isZero();
    GATEWAY.client().mint("bookmark");
    String ended = "types: {bookmark: {prefix: bkm, key: bigint}}";

    assertThat(plan(ended).out())
        .contains("  ! would be refused now: ", "(links_would_die)", "--confirm-links");
    assertThat(run("plan", "--json", "-f", folder.resolve("types.yaml").toString()).out())
        .contains("\"refusal\":{", "\"dying_links\":[");
    Terminal refused = apply(ended);
    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err()).contains("bookmark: ", "(links_would_die)", "--confirm-links");
    assertTold(apply(ended, "--confirm-links"), "bookmark: changed, version 2");
  }

  @Test
  void aTypeIsRetiredByTheFileAndNeverByItsAbsence() throws IOException {
    String file = "types: {pager: {prefix: pgr, key: bigint}}";
    apply(file);

    apply("types: {}");
    assertThat(GATEWAY.client().mint("pager").status()).isEqualTo(201);

    String retired = "types: {pager: {prefix: pgr, key: bigint, retired: true}}";
    assertThat(plan(retired).lines())
        .containsSequence("pager: differs", "  - retired false", "  + retired true");
    assertThat(apply(retired).status()).isZero();
    assertThat(GATEWAY.client().mint("pager").status()).isEqualTo(409);
    assertThat(run("set", "pager", "--retired=false").status()).isZero();
    assertThat(GATEWAY.client().mint("pager").status()).isEqualTo(201);
  }

  /** What happens between the comparison and the puts is done by what stands in between. */
  @Test
  void aTypeThatSomeoneElseChangesMeanwhileIsLeftAsItIs() throws Exception {
    int attempt = 0;
    while (!isLeftAsItIs("contested" + attempt, "claimed" + attempt, "calm" + attempt)) {
      attempt++;
    }
  }

  /** False if the machine is too busy to tell. */
  private boolean isLeftAsItIs(String contested, String claimed, String calm) throws Exception {
    TestClient client = GATEWAY.client();
    client.put(TestType.of(contested, contested));
    String file =
        """
        types:
          %s: {prefix: %1$s, key: bigint, stale_seconds_max: 5}
          %s: {prefix: %2$s, key: bigint, stale_seconds_max: 5}
          %s: {prefix: %3$s, key: bigint}
        """
            .formatted(contested, claimed, calm);
    Runnable others =
        () -> {
          client.patch("/v1/types/" + contested, json("stale_seconds_max", 9));
          client.put(TestType.of(claimed, claimed));
        };

    Terminal applied;
    try (Between between = new Between(others, Integer.MAX_VALUE)) {
      applied = applyOnce(file, "--url=" + between.uri());
    }
    if (applied.saysAgain()) {
      return false;
    }

    assertThat(applied.status()).isEqualTo(1);
    assertThat(applied.lines())
        .contains(calm + ": created, version 1", contested + ": refused", claimed + ": refused");
    assertThat(applied.err()).contains("(precondition_failed)");
    assertThat(staleSeconds(contested)).isEqualTo(9);
    assertThat(staleSeconds(claimed)).isEqualTo(60);
    assertThat(apply(file).status()).isZero();
    assertThat(plan(file).status()).isZero();
    assertThat(staleSeconds(contested)).isEqualTo(5);
    return true;
  }

  private static int staleSeconds(String type) {
    return GATEWAY.client().get("/v1/types/" + type).body().path("stale_seconds_max").asInt();
  }

  @Test
  void anOutageEndsTheRunAndSaysWhatWasDone() throws Exception {
    int attempt = 0;
    while (!isToldWhatWasDone("early" + attempt, "lost" + attempt, "later" + attempt)) {
      attempt++;
    }
  }

  /** False if the machine is too busy to tell. */
  private boolean isToldWhatWasDone(String early, String lost, String later) throws Exception {
    String file =
        """
        types:
          %s: {prefix: %1$s, key: bigint}
          %s: {prefix: %2$s, key: bigint}
          %s: {prefix: %3$s, key: bigint}
        """
            .formatted(early, lost, later);

    Terminal applied;
    try (Between between = new Between(() -> {}, 1)) {
      applied = applyOnce(file, "--url=" + between.uri());
    }
    if (applied.saysAgain()) {
      return false;
    }

    assertThat(applied.status()).isEqualTo(1);
    assertThat(applied.lines())
        .containsExactly(early + ": created, version 1", lost + ": unknown", later + ": not tried");
    assertThat(applied.err()).startsWith("coatcheck types apply: " + lost + ": ");
    assertThat(apply(file).status()).isZero();
    return true;
  }

  @Test
  void aFileFromStandardInputIsPlanned() {
    Terminal planned =
        Terminal.runWith(
            "types: {piped: {prefix: pip, key: uuid}}",
            "types",
            "plan",
            "--json",
            "-f",
            "-",
            "--url=" + GATEWAY.uri(),
            "--key-file=" + KEY);

    assertThat(planned.status()).as(planned.err()).isEqualTo(3);
    JsonNode first = new JsonMapper().readTree(planned.lines().getFirst());
    assertThat(first.path("type").asString()).isEqualTo("piped");
    assertThat(first.path("action").asString()).isEqualTo("create");
    assertThat(first.path("version").isNull()).isTrue();
    assertThat(first.at("/fields/0").toString())
        .isEqualTo("{\"field\":\"prefix\",\"old\":[],\"new\":[\"pip\"]}");
    assertThat(new JsonMapper().readTree(planned.lines().getLast()).path("to_create").asInt())
        .isOne();
    assertThat(Terminal.runWith("types: 1", "types", "plan", "-f", "-"))
        .isEqualTo(
            new Terminal(
                2,
                "",
                """
                coatcheck types plan: standard input has a problem:
                  line 1: types: This must be an object, with a type for each name.
                """));
  }

  /** Passes requests on to the gateway, and does something before the first put. */
  private static final class Between implements AutoCloseable {
    private final HttpServer server;
    private final HttpClient http = HttpClient.newHttpClient();
    private int puts;

    /**
     * Starts it.
     *
     * @param putsMax how many puts it passes on; the connections of later ones end
     */
    Between(Runnable beforeFirstPut, int putsMax) throws IOException {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.createContext(
          "/",
          exchange -> {
            if (exchange.getRequestMethod().equals("PUT")) {
              if (puts == putsMax) {
                exchange.close();
                return;
              }
              if (puts++ == 0) {
                beforeFirstPut.run();
              }
            }
            pass(exchange);
          });
      server.start();
    }

    private void pass(HttpExchange exchange) throws IOException {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(GATEWAY.uri().resolve(exchange.getRequestURI().toString()))
              .method(
                  exchange.getRequestMethod(),
                  HttpRequest.BodyPublishers.ofByteArray(exchange.getRequestBody().readAllBytes()));
      for (String header : List.of("Authorization", "Content-Type", "If-Match", "If-None-Match")) {
        String value = exchange.getRequestHeaders().getFirst(header);
        if (value != null) {
          request.header(header, value);
        }
      }
      try {
        HttpResponse<byte[]> answer =
            http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
        answer
            .headers()
            .firstValue("Request-Id")
            .ifPresent(id -> exchange.getResponseHeaders().set("Request-Id", id));
        exchange.sendResponseHeaders(answer.statusCode(), answer.body().length);
        exchange.getResponseBody().write(answer.body());
        exchange.close();
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      }
    }

    URI uri() {
      return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    @Override
    public void close() {
      server.stop(0);
      http.close();
    }
  }
}
