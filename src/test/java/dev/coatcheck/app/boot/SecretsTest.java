package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.app.cli.Terminal;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Canaries: secrets that are sent in every way in which they can come in, and then searched in all
 * that a gateway writes, answers and stores.
 */
class SecretsTest {
  private static final String PASSWORD = "canary-password-Zk3x9";
  private static final String SOURCE_PASSWORD = "canary-source-Qm7w2";
  private static final String WRONG_PASSWORD = "canary-wrong-Hy5t8";
  private static final String IDEMPOTENCY_KEY = "canary-idempotency-Lp4r6";
  private static final String ROLE = "coatcheck_test_canary";
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private static final String DEFINITION =
      """
      {"prefix":"ch","key":"bigint","redirect":{"template":"https://shop.example/{id}"},"legacy":{}}\
      """;

  @TempDir static Path folder;

  private static final TestDatabase DATABASE = TestDatabase.fresh();
  private static final List<Answered> ANSWERS = new ArrayList<>();

  /** An answer with its headers, and the URL and the body of its request. */
  private record Answered(String sent, String answer) {}

  private static Path log;
  private static GatewayChild gateway;

  /** Of a key that works, and of one that is revoked. */
  private static String key;

  private static String deadKey;
  private static String metrics;
  private static String processArguments;
  private static String passwordFileName;

  @BeforeAll
  static void secretsComeInEveryWay() throws Exception {
    DATABASE
        .sql()
        .execute(
            "drop role if exists " + ROLE,
            "create role %s superuser login password '%s'".formatted(ROLE, PASSWORD),
            "create table public.canary_shop (id bigint primary key)");
    Map<String, String> settings = new HashMap<>();
    Path passwordFile = Files.writeString(folder.resolve("database-password"), PASSWORD + "\n");
    passwordFileName = passwordFile.toString();
    settings.put("COATCHECK_DATABASE_URL", DATABASE.url());
    settings.put("COATCHECK_DATABASE_USER", ROLE);
    settings.put("COATCHECK_DATABASE_PASSWORD_FILE", passwordFileName);
    source(settings, "SHOP", DATABASE.url(), DATABASE.password());
    source(settings, "WRONG", DATABASE.url(), WRONG_PASSWORD);
    source(settings, "AWAY", "jdbc:postgresql://127.0.0.1:1/shop", SOURCE_PASSWORD);
    TestDatabase canary = new TestDatabase(DATABASE.url(), ROLE, PASSWORD);
    key = access(canary, "create", "--name=live", "--scope=*");
    deadKey = access(canary, "create", "--name=dead", "--scope=*");
    var _ = access(canary, "revoke", id(deadKey));
    log = folder.resolve("log");
    gateway = GatewayChild.serveLogging(log, settings);
    requests();
    metrics = send(request("/metrics").build());
    processArguments =
        ProcessHandle.of(gateway.pid()).orElseThrow().info().toString()
            + commandLine(gateway.pid());
    DATABASE.setReachable(false);
    String _ = send(request("/v1/types").build());
    Awaitility.await().until(() -> Files.readString(log).contains("database"));
    DATABASE.setReachable(true);
  }

  @AfterAll
  static void stop() throws IOException {
    gateway.close();
  }

  private static void source(
      Map<String, String> settings, String name, String url, String password) {
    settings.put("COATCHECK_SOURCE_" + name + "_URL", url);
    settings.put("COATCHECK_SOURCE_" + name + "_USER", DATABASE.user());
    settings.put("COATCHECK_SOURCE_" + name + "_PASSWORD", password);
  }

  private static void requests() throws Exception {
    sendJson("PUT", "/v1/types/charge", DEFINITION);
    String mint = "{\"type\":\"charge\",\"legacy_id\":\"4711\"}";
    for (String body : List.of(mint, mint, "{\"type\":\"charge\"}")) {
      String _ = send(with(json("/v1/ids", body, "POST"), "Idempotency-Key", IDEMPOTENCY_KEY));
    }
    String _ = send(with(json("/v1/ids", mint, "POST"), "Idempotency-Key", "\"" + IDEMPOTENCY_KEY));
    for (String source : List.of("shop", "wrong", "away")) {
      sendJson(
          "POST",
          "/v1/table-migrations",
          "{\"type\":\"charge\",\"table\":\"canary_shop\",\"source\":\"%s\"}".formatted(source));
    }
    for (String secret : List.of(key, deadKey, PASSWORD, IDEMPOTENCY_KEY)) {
      headers(secret);
      urls(secret);
      bodies(secret);
    }
  }

  private static void headers(String secret) throws Exception {
    String broken = secret.substring(0, secret.length() - 1) + "-";
    String basic =
        Base64.getEncoder().encodeToString(("a:" + secret).getBytes(StandardCharsets.UTF_8));
    for (String value :
        List.of(
            "Bearer " + secret,
            "Bearer " + broken,
            "Bearer  " + secret,
            secret,
            "Basic " + basic)) {
      for (String target : List.of("/v1/types", "/r/ch_00000000000000000000002B", "/metrics")) {
        String _ = send(request(target).setHeader("Authorization", value).build());
      }
    }
    for (String name :
        List.of(
            "X-Api-Key",
            "Cookie",
            "Referer",
            "If-Match",
            "X-Request-Id",
            "X-Forwarded-For",
            "Accept",
            "Accept-Language")) {
      String _ = send(request("/v1/types").header(name, secret).build());
    }
    String url = "/charges?key=" + secret;
    String _ = send(request("/v1/urls/auth-request").header("X-Original-URI", url).build(), url);
    String twice = "Authorization: Bearer " + secret + "\r\n";
    raw("GET /v1/types HTTP/1.1\r\nHost: gateway\r\n" + twice + twice + "\r\n");
    raw("GET /v1/types HTTP/1.1\r\nHost: gateway\r\nAuthorization : " + secret + "\r\n\r\n");
    raw("GET /v1/types HTTP/1.1\r\nHost: gateway\r\nAuthorization: " + secret + "\0\r\n\r\n");
    raw("GET /v1/types HTTP/1.1\r\nHost: " + secret + "@gateway:x\r\n\r\n");
  }

  private static void urls(String secret) throws Exception {
    for (String target :
        List.of(
            "/r/",
            "/v1/ids/",
            "/v1/types/",
            "/v1/types/charge/keys/",
            "/legacy/charge/",
            "/legacy/",
            "/docs/assets/",
            "/",
            "/v1/types?key=",
            "/v1/ids?api_key=",
            "/r/ch_00000000000000000000002B?token=",
            "/v1/ids?type=",
            "/v1/ids?starting_after=",
            "/v1/exports?type=",
            "/v1/urls/resolve?url=https://shop.example/charges/1?key=")) {
      String _ = send(request(target + secret).build());
    }
    raw("GET /v1/types?" + secret + " HTTP/9.9\r\nHost: gateway\r\n\r\n");
    raw("GET http://a:" + secret + "@gateway/%u0041 HTTP/1.1\r\nHost: gateway\r\n\r\n");
    raw(secret + " /v1/types HTTP/1.1\r\nHost: gateway\r\n\r\n");
  }

  private static void bodies(String secret) throws Exception {
    for (String form :
        List.of(
            "{\"type\":\"%s\"}",
            "{\"type\":\"charge\",\"key\":\"%s\"}",
            "{\"type\":\"charge\",\"%s\":1}",
            "{\"type\":\"charge\",\"authorization\":\"%s\"}",
            "{\"type\":\"charge\",\"key\":1,\"key\":\"%s\"}",
            "\"%s\"",
            "{\"a\":%s}")) {
      sendJson("POST", "/v1/ids", form.formatted(secret));
      sendJson("PUT", "/v1/types/charge", form.formatted(secret));
    }
    for (String rows : List.of("type,key,%1$s\n", "type,key\n%1$s,1\ncharge,%1$s\n")) {
      String file = rows.formatted(secret);
      String _ = send(with(json("/v1/imports", file, "POST"), "Content-Type", "text/csv"), file);
    }
  }

  @Test
  void noLogNoMetricAndNoProcessArgumentHasASecret() throws IOException {
    assertThat(Files.readString(log)).as("the log is read").contains("access refused for API key");
    assertThat(metrics).contains("coatcheck_access_refused_total");
    assertThat(processArguments).contains("serve");
    for (String secret : secrets()) {
      assertThat(Files.readString(log)).doesNotContain(secret);
      assertThat(metrics).doesNotContain(secret);
      assertThat(processArguments).doesNotContain(secret);
    }
  }

  /** A secret of a header is never repeated, and no answer has one that its request hadn't. */
  @Test
  void noAnswerHasASecretThatWasNotInItsUrlOrItsBody() {
    assertThat(ANSWERS)
        .hasSizeGreaterThan(200)
        .allSatisfy(
            answered -> {
              for (String secret : secrets()) {
                if (!answered.sent().contains(secret)) {
                  assertThat(answered.answer()).doesNotContain(secret);
                }
              }
            });
    assertThat(ANSWERS).anyMatch(answered -> answered.answer().startsWith("201 "));
  }

  /** Each column of each table of each schema: entries of the audit and stored answers as well. */
  @Test
  void noColumnOfTheDatabaseHasASecret() {
    TestSql sql = DATABASE.sql();
    List<String> tables =
        sql.texts(
            """
            select format('%I.%I', table_schema, table_name) from information_schema.tables
             where table_schema not in ('pg_catalog', 'information_schema')
               and table_type = 'BASE TABLE'
            """);
    assertThat(tables)
        .contains("coatcheck.api_key", "coatcheck.audit_entry", "coatcheck.idempotency_6");
    assertThat(found(sql, "coatcheck.alias", "4711")).as("the search finds what is there").isOne();
    assertThat(found(sql, "coatcheck.api_key", id(key))).isOne();
    for (String table : tables) {
      for (String secret : secrets()) {
        assertThat(found(sql, table, secret)).as("%s in %s", secret, table).isZero();
        String hex = HexFormat.of().formatHex(secret.getBytes(StandardCharsets.UTF_8));
        assertThat(found(sql, table, hex)).as("%s in %s", secret, table).isZero();
      }
    }
    assertThat(
            sql.texts(
                "select query from pg_stat_activity where application_name like 'coatcheck%'"))
        .isNotEmpty()
        .allSatisfy(
            query -> {
              for (String secret : secrets()) {
                assertThat(query).doesNotContain(secret);
              }
            });
  }

  private static long found(TestSql sql, String table, String text) {
    return sql.number(
        "select count(*) from %s as row where position('%s' in row::text) > 0"
            .formatted(table, text));
  }

  /** A password as a flag, in a URL, and in a file that isn't one. */
  @Test
  void noFailedStartPrintsASecret() throws IOException {
    String url = "--database-url=" + DATABASE.url();
    String user = "--database-user=" + DATABASE.user();
    Path lines = Files.writeString(folder.resolve("lines"), WRONG_PASSWORD + "\n" + PASSWORD);
    for (List<String> flags :
        List.of(
            List.of(url, user, "--database-password=" + PASSWORD),
            List.of(url + "?password=" + PASSWORD, user),
            List.of(url + "?sslpassword=" + PASSWORD, user),
            List.of(url, user, "--database-password-file=" + lines),
            List.of(
                "--database-url=jdbc:postgresql://127.0.0.1:1/shop",
                user,
                "--database-password-file=" + passwordFileName))) {
      List<String> command = new ArrayList<>(List.of("serve", "--port=0"));
      command.addAll(flags);
      Terminal ended = Terminal.run(command.toArray(String[]::new));

      assertThat(ended.status()).isNotZero();
      assertThat(ended.err()).isNotEmpty();
      for (String secret : secrets()) {
        assertThat(ended.out() + ended.err()).doesNotContain(secret);
      }
    }
  }

  /** What the launchers give to every JVM. */
  @Test
  void noMemoryIsWrittenToADisk() throws Exception {
    Process java =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "@ops/jvm/options",
                "-XX:+UseSerialGC",
                "-XX:+PrintFlagsFinal",
                "-version")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String flags = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(java.waitFor()).isZero();
    assertThat(flags)
        .containsPattern("HeapDumpOnOutOfMemoryError +:?= false")
        .containsPattern("CreateCoredumpOnCrash +:?= false");
  }

  /** What must be found nowhere; of an API key all but the part that names it. */
  private static List<String> secrets() {
    return List.of(
        PASSWORD, SOURCE_PASSWORD, WRONG_PASSWORD, IDEMPOTENCY_KEY, secret(key), secret(deadKey));
  }

  private static String id(String apiKey) {
    return apiKey.split("_", -1)[2];
  }

  /** Without its check characters, which a broken key has not. */
  private static String secret(String apiKey) {
    return apiKey.split("_", -1)[3].substring(0, 32);
  }

  private static String access(TestDatabase database, String... arguments) {
    List<String> command = new ArrayList<>(List.of("access"));
    command.addAll(Arrays.asList(arguments));
    command.addAll(database.flags());
    Terminal ended = Terminal.run(command.toArray(String[]::new));
    assertThat(ended.status()).as(ended.err()).isZero();
    return ended.out().strip();
  }

  private static String commandLine(long pid) throws IOException {
    Path file = Path.of("/proc", Long.toString(pid), "cmdline");
    return Files.exists(file) ? Files.readString(file).replace('\0', ' ') : "";
  }

  private static HttpRequest.Builder request(String target) {
    return HttpRequest.newBuilder(gateway.uri().resolve(target))
        .setHeader("Authorization", "Bearer " + key);
  }

  private static HttpRequest json(String target, String body, String method) {
    return request(target)
        .header("Content-Type", "application/json")
        .method(method, BodyPublishers.ofString(body))
        .build();
  }

  private static HttpRequest with(HttpRequest request, String header, String value) {
    return HttpRequest.newBuilder(request, (name, _) -> !name.equalsIgnoreCase(header))
        .header(header, value)
        .build();
  }

  private static String send(HttpRequest request) throws Exception {
    return send(request, "");
  }

  private static String send(HttpRequest request, String body) throws Exception {
    HttpResponse<String> response = HTTP.send(request, BodyHandlers.ofString());
    String answer = response.statusCode() + " " + response.headers().map() + " " + response.body();
    ANSWERS.add(new Answered(request.uri() + " " + body, answer));
    return answer;
  }

  private static void sendJson(String method, String target, String body) throws Exception {
    String _ = send(json(target, body, method), body);
  }

  /** Bytes that no client would send; an answer, or the end of the connection. */
  private static void raw(String request) throws IOException {
    URI uri = gateway.uri();
    try (Socket socket = new Socket(uri.getHost(), uri.getPort())) {
      socket.setSoTimeout(30_000);
      socket
          .getOutputStream()
          .write(
              request
                  .replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")
                  .getBytes(StandardCharsets.ISO_8859_1));
      byte[] answer = socket.getInputStream().readAllBytes();
      String line = request.substring(0, request.indexOf('\r'));
      ANSWERS.add(new Answered(line, new String(answer, StandardCharsets.ISO_8859_1)));
    } catch (SocketException closed) {
      ANSWERS.add(new Answered("", String.valueOf(closed.getMessage())));
    }
  }
}
