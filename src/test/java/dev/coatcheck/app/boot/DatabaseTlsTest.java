package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.server.TestCertificate;
import dev.coatcheck.app.cli.Terminal;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A Postgres that lets nobody in without TLS, and shows a certificate of its own. */
class DatabaseTlsTest {
  private static final String VERIFIED = "?sslmode=verify-full&sslrootcert=";

  @TempDir static Path folder;

  private static TestHome home;
  private static EmbeddedDatabase postgres;
  private static Path authority;
  private static Path otherAuthority;

  @BeforeAll
  static void aServerWithTls() throws Exception {
    TestCertificate certificate = TestCertificate.make(folder, "postgres", "RSA");
    authority = Files.writeString(folder.resolve("authority.pem"), certificate.pem());
    otherAuthority =
        Files.writeString(
            folder.resolve("other.pem"), TestCertificate.make(folder, "other", "RSA").pem());
    home = TestHome.fresh();
    postgres = EmbeddedDatabase.start(home.path());
    Path data = home.path().resolve("data");
    Files.writeString(data.resolve("own.crt"), certificate.pem());
    Path key = Files.writeString(data.resolve("own.key"), certificate.keyPem());
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    Path access = data.resolve("pg_hba.conf");
    Files.writeString(access, Files.readString(access).replaceAll("(?m)^host ", "hostssl "));
    TestSql.on(postgres)
        .execute(
            "alter system set ssl_cert_file = 'own.crt'",
            "alter system set ssl_key_file = 'own.key'",
            "alter system set ssl = on",
            "select pg_reload_conf()");
    Awaitility.await().until(() -> refused(url("?sslmode=disable")).contains("no encryption"));
  }

  @AfterAll
  static void stop() throws Exception {
    postgres.close();
    home.close();
  }

  /** Each connection of the gateway: the pools, the migrations, and those of a source. */
  @Test
  void aGatewayWorksWhereOnlyTlsIsLetIn() throws Exception {
    String url = url(VERIFIED + authority);
    TestSql sql = new TestSql(url, postgres.user(), postgres.password());
    done(url, "database", "migrate");
    String key = done(url, "access", "create", "--name=a", "--scope=*").lines().getFirst();
    try (Gateway gateway = Gateway.start(config(url))) {
      TestClient api = new TestClient(URI.create(gateway.url()), key);
      TestClient.assertPut(api.put(TestType.of("charge", "ch")));
      String id = api.mint("charge").text("/id");
      assertThat(api.get("/v1/ids/" + id).status()).isEqualTo(200);
      assertThat(api.get("/v1/exports?type=charge").body().stringValue()).contains(id);
      sql.execute("create table public.shop (id bigint primary key)");
      assertThat(
              api.post(
                      "/v1/table-migrations",
                      TestClient.json("type", "charge", "source", "shop", "table", "public.shop"))
                  .body()
                  .toString())
          .doesNotContain("source_unavailable", "SSL");
      assertThat(
              sql.number(
                  """
                  select count(*) from pg_stat_ssl join pg_stat_activity using (pid)
                   where application_name like 'coatcheck%' and not ssl
                  """))
          .isZero();
      assertThat(
              sql.number(
                  """
                  select count(*) from pg_stat_ssl join pg_stat_activity using (pid)
                   where application_name like 'coatcheck%' and ssl
                  """))
          .isGreaterThan(3);
    }
  }

  @Test
  void aServerWhoseCertificateIsOfAnotherHostIsRefused() {
    assertThat(refused(url(VERIFIED + authority).replace("//127.0.0.1:", "//127.1:")))
        .contains("127.1", "the certificate of the server is not for this host");
  }

  @Test
  void aServerOfAnotherAuthorityIsRefused() {
    assertThat(refused(url(VERIFIED + otherAuthority)))
        .contains("the certificate of the server is not of an authority in sslrootcert");
  }

  @Test
  void anAuthorityThatCanNotBeReadIsSaid() {
    Path missing = folder.resolve("missing.pem");

    assertThat(refused(url(VERIFIED + missing))).contains(missing.toString());
  }

  @Test
  void aModeThatDoesNotExistIsSaid() {
    assertThat(refused(url("?sslmode=verify"))).contains("sslmode", "verify");
  }

  @Test
  void thePasswordOfAClientKeyDoesNotBelongIntoTheUrl() {
    Terminal ended = run(url("?sslmode=verify-full&sslpassword=canary"), "database", "migrate");

    assertThat(ended.status()).isEqualTo(2);
    assertThat(ended.err()).contains("contains a password").doesNotContain("canary");
  }

  private static String refused(String url) {
    Terminal ended = run(url, "access", "list", "--no-migrate");
    assertThat(ended.status()).isEqualTo(1);
    assertThat(ended.err()).hasLineCount(1).doesNotContain(postgres.password());
    return ended.err();
  }

  /** Runs a command again until it is done: a busy machine takes longer than it waits. */
  private static Terminal done(String url, String... command) {
    return Awaitility.await().until(() -> run(url, command), ended -> ended.status() == 0);
  }

  private static Terminal run(String url, String... command) {
    List<String> arguments = new ArrayList<>(List.of(command));
    arguments.addAll(new TestDatabase(url, postgres.user(), postgres.password()).flags());
    return Terminal.run(arguments.toArray(String[]::new));
  }

  private static Config config(String url) {
    Map<String, String> environment = new HashMap<>(Map.of("COATCHECK_PORT", "0"));
    for (String start : List.of("COATCHECK_DATABASE", "COATCHECK_SOURCE_SHOP")) {
      environment.put(start + "_URL", url);
      environment.put(start + "_USER", postgres.user());
      environment.put(start + "_PASSWORD", postgres.password());
    }
    return switch (Config.read(environment, Map.of())) {
      case Config.Parsed.Valid(Config valid) -> valid;
      case Config.Parsed.Invalid invalid -> throw new AssertionError(invalid.faults());
    };
  }

  private static String url(String parameters) {
    return postgres.jdbcUrl() + parameters;
  }
}
