package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.server.RateLimits;
import dev.coatcheck.cluster.lease.WorkerRanges;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.access.RateLimit;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigTest {
  private static final String PASSWORD_FILE =
      "COATCHECK_DATABASE_PASSWORD_FILE (--database-password-file) ";

  @TempDir Path folder;

  @Test
  void nothingSetIsAnEmbeddedDatabaseOnPort8080() {
    Config config = valid(Map.of(), Map.of());

    assertThat(config.port()).isEqualTo(8080);
    assertThat(config.host()).isEqualTo("127.0.0.1");
    assertThat(config.home()).hasToString(".coatcheck");
    assertThat(config.database()).isEmpty();
    assertThat(config.managementPort()).isEmpty();
  }

  @Test
  void aFlagWinsOverTheEnvironment() {
    Config config =
        valid(
            Map.of("COATCHECK_PORT", "1000", "COATCHECK_HOME", "a"), Map.of(Setting.PORT, "2000"));

    assertThat(config.port()).isEqualTo(2000);
    assertThat(config.home()).hasToString("a");
  }

  @Test
  void allFaultsAreReportedAtOnce() {
    assertThat(
            faults(
                    Map.of(
                        "COATCHECK_PORT", "tcp://10.0.0.1:8080",
                        "COATCHECK_MANAGEMENT_PORT", "70000",
                        "COATCHECK_DATABASE_URL", "postgres://db",
                        "COATCHECK_DATABASE_CONNECTIONS", "1",
                        "COATCHECK_REDIRECT_HOSTS", "a.example,,b",
                        "COATCHECK_TRUSTED_PROXIES", "10.0.0.7,proxy",
                        "COATCHECK_CONNECTIONS_MAX", "99",
                        "COATCHECK_CACHE_ENTRIES", "-1",
                        "COATCHECK_MINT_GROUPS", "101",
                        "COATCHECK_WORKERS", "500-1022,twiter=0-9"))
                .lines()
                .map(fault -> fault.replaceAll("[ (].*", "")))
        .containsExactlyInAnyOrder(
            "COATCHECK_PORT",
            "COATCHECK_MANAGEMENT_PORT",
            "COATCHECK_DATABASE_URL",
            "COATCHECK_DATABASE_USER",
            "COATCHECK_DATABASE_CONNECTIONS",
            "COATCHECK_REDIRECT_HOSTS",
            "COATCHECK_TRUSTED_PROXIES",
            "COATCHECK_CONNECTIONS_MAX",
            "COATCHECK_CACHE_ENTRIES",
            "COATCHECK_MINT_GROUPS",
            "COATCHECK_WORKERS",
            "COATCHECK_WORKERS");
    assertThat(
            faults(
                    Map.of(
                        "COATCHECK_PORT", "x",
                        "COATCHECK_SOURCE_A_URL", "x",
                        "COATCHECK_SOURCE_B_USER", "x"))
                .lines())
        .hasSize(4);
  }

  @Test
  void nothingIsLimitedUntilALimitIsSet() {
    assertThat(valid(Map.of(), Map.of()).limits()).isEqualTo(RateLimits.Defaults.none());
    assertThat(
            valid(Map.of("COATCHECK_LIMIT_KEY", "1000/1"), Map.of(Setting.LIMIT_ADDRESS, "60/3600"))
                .limits())
        .isEqualTo(
            new RateLimits.Defaults(
                Optional.of(new RateLimit(1_000, 1)), Optional.of(new RateLimit(60, 3_600))));
    assertThat(
            faults(Map.of("COATCHECK_LIMIT_KEY", "1000", "COATCHECK_LIMIT_ADDRESS", "1/3601"))
                .lines())
        .hasSize(2)
        .allMatch(fault -> fault.contains("must be requests/seconds, as 1000/1"));
  }

  @Test
  void portsDiffer() {
    assertThat(
            faults(
                Map.of(
                    "COATCHECK_PORT", "8080",
                    "COATCHECK_PUBLIC_PORT", "8080",
                    "COATCHECK_MANAGEMENT_PORT", "8080")))
        .isEqualTo(
            """
            COATCHECK_PUBLIC_PORT (--public-port) is the same as COATCHECK_PORT
            COATCHECK_PUBLIC_PORT (--public-port) is the same as COATCHECK_MANAGEMENT_PORT
            COATCHECK_MANAGEMENT_PORT (--management-port) is the same as COATCHECK_PORT\
            """);
    assertThat(
            valid(
                    Map.of(
                        "COATCHECK_PORT", "0",
                        "COATCHECK_PUBLIC_PORT", "0",
                        "COATCHECK_MANAGEMENT_PORT", "0"),
                    Map.of())
                .publicPort())
        .hasValue(0);
  }

  @Test
  void tlsTakesACertificateAndItsKey() {
    assertThat(faults(Map.of("COATCHECK_TLS_CERTIFICATE_FILE", "/no/tls.crt")))
        .isEqualTo(
            "COATCHECK_TLS_KEY_FILE (--tls-key-file) is needed beside"
                + " COATCHECK_TLS_CERTIFICATE_FILE");
    assertThat(
            faults(
                Map.of(
                    "COATCHECK_TLS_CERTIFICATE_FILE", "/no/tls.crt",
                    "COATCHECK_TLS_KEY_FILE", "/no/tls.key")))
        .isEqualTo(
            """
            COATCHECK_TLS_CERTIFICATE_FILE (--tls-certificate-file) names /no/tls.crt, which \
            can't be read: there is no such file.
            COATCHECK_TLS_KEY_FILE (--tls-key-file) names /no/tls.key, which can't be read: there \
            is no such file.\
            """);
    assertThat(valid(Map.of(), Map.of()).tls()).isEmpty();
  }

  @Test
  void groupsHaveSharesOfThePool() {
    Function<String, Concurrency> ofPool =
        connections ->
            valid(Map.of("COATCHECK_DATABASE_CONNECTIONS", connections), Map.of()).concurrency();

    assertThat(valid(Map.of(), Map.of()).concurrency()).isEqualTo(new Concurrency(10, 3, 4));
    assertThat(ofPool.apply("20")).isEqualTo(new Concurrency(20, 6, 8));
    assertThat(ofPool.apply("2")).isEqualTo(new Concurrency(2, 1, 1));
  }

  @Test
  void groupsAndSelectorsCanBeSet() {
    Config config =
        valid(
            Map.of("COATCHECK_RESOLVE_GROUPS", "10", "COATCHECK_MINT_GROUPS", "1"),
            Map.of(Setting.SELECTORS, "5"));

    assertThat(config.concurrency()).isEqualTo(new Concurrency(10, 10, 1));
    assertThat(config.clients().selectors()).isEqualTo(5);
  }

  @Test
  void withoutASettingOneThreadReadsForTwoCores() {
    int cores = Runtime.getRuntime().availableProcessors();

    assertThat(valid(Map.of(), Map.of()).clients().selectors())
        .isEqualTo(Math.clamp(cores / 2, 1, 64));
  }

  @Test
  void moreGroupsThanConnectionsAreAFault() {
    assertThat(
            faults(
                Map.of(
                    "COATCHECK_DATABASE_CONNECTIONS", "5",
                    "COATCHECK_RESOLVE_GROUPS", "6",
                    "COATCHECK_MINT_GROUPS", "5",
                    "COATCHECK_SELECTORS", "0")))
        .isEqualTo(
            """
            COATCHECK_RESOLVE_GROUPS (--resolve-groups) must not exceed \
            COATCHECK_DATABASE_CONNECTIONS, 5
            COATCHECK_SELECTORS (--selectors) must be a number from 1 to 64\
            """);
    // Of a pool whose size is a fault itself, nothing more is said.
    assertThat(
            faults(Map.of("COATCHECK_DATABASE_CONNECTIONS", "1", "COATCHECK_RESOLVE_GROUPS", "6")))
        .doesNotContain("RESOLVE");
  }

  @Test
  void anIpv6AddressIsWrittenAsUrlsWantIt() {
    assertThat(valid(Map.of("COATCHECK_HOST", "::1"), Map.of()).host()).isEqualTo("[::1]");
    assertThat(valid(Map.of("COATCHECK_HOST", "[::1]"), Map.of()).host()).isEqualTo("[::1]");
  }

  @Test
  void credentialsWithoutAnAddressAreAFault() {
    assertThat(faults(Map.of("COATCHECK_DATABASE_PASSWORD", "secret")))
        .hasLineCount(1)
        .contains("COATCHECK_DATABASE_URL")
        .doesNotContain("secret");
  }

  @Test
  void thePasswordIsNeverPrinted() {
    Config config =
        valid(
            Map.of(
                "COATCHECK_DATABASE_URL", "jdbc:postgresql://db:5432/coatcheck",
                "COATCHECK_DATABASE_USER", "me",
                "COATCHECK_DATABASE_PASSWORD", "secret"),
            Map.of());

    assertThat(config.toString()).contains("db:5432").doesNotContain("secret");
  }

  @Test
  void thePasswordIsReadFromAFileWithoutItsLineEnd() throws Exception {
    for (String content : List.of("se cret", "se cret\n", "se cret\r\n")) {
      Path file = Files.writeString(folder.resolve("password"), content);

      Config config = valid(onDatabase("COATCHECK_DATABASE_PASSWORD_FILE", file), Map.of());

      assertThat(config.database())
          .contains(new DatabaseSettings("jdbc:postgresql://db/coatcheck", "me", "se cret", 10));
    }
  }

  @Test
  void aPasswordFileThatHoldsNoPasswordIsAFault() throws Exception {
    Path pipe = folder.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    Path empty = Files.writeString(folder.resolve("empty"), "\n");
    Path lines = Files.writeString(folder.resolve("lines"), "secret\nsecret\n");
    Path large = Files.writeString(folder.resolve("large"), "secret".repeat(1_000));
    Path missing = folder.resolve("missing");

    assertThat(faults(onDatabase("COATCHECK_DATABASE_PASSWORD_FILE", empty)))
        .isEqualTo(PASSWORD_FILE + "names an empty file: " + empty);
    assertThat(faults(onDatabase("COATCHECK_DATABASE_PASSWORD_FILE", lines)))
        .isEqualTo(PASSWORD_FILE + "names a file of more than one line: " + lines);
    assertThat(faults(onDatabase("COATCHECK_DATABASE_PASSWORD_FILE", large)))
        .isEqualTo(PASSWORD_FILE + cantBeRead(large, "it has more than 4096 bytes."));
    assertThat(faults(onDatabase("COATCHECK_DATABASE_PASSWORD_FILE", missing)))
        .isEqualTo(PASSWORD_FILE + cantBeRead(missing, "there is no such file."));
    assertThat(faults(onDatabase("COATCHECK_DATABASE_PASSWORD_FILE", folder)))
        .isEqualTo(PASSWORD_FILE + cantBeRead(folder, "Is a directory"));
    assertThat(faults(onDatabase("COATCHECK_DATABASE_PASSWORD_FILE", pipe)))
        .isEqualTo(PASSWORD_FILE + cantBeRead(pipe, "it is a named pipe."));
  }

  private static String cantBeRead(Path file, String why) {
    return "names %s, which can't be read: %s".formatted(file, why);
  }

  @Test
  void aPasswordIsSetInOnePlaceOnly() throws Exception {
    Path file = Files.writeString(folder.resolve("password"), "secret\n");
    Map<String, String> environment =
        new HashMap<>(onDatabase("COATCHECK_DATABASE_PASSWORD_FILE", file));
    environment.put("COATCHECK_DATABASE_PASSWORD", "secret");

    assertThat(faults(environment)).contains("are both set").doesNotContain("secret");
    assertThat(faults(Map.of("COATCHECK_DATABASE_PASSWORD_FILE", file.toString())))
        .contains("COATCHECK_DATABASE_URL is not");
  }

  @Test
  void aReplicaHasTheUserOfTheDatabaseAndAPoolOfItsOwn() {
    Map<String, String> environment =
        new HashMap<>(
            Map.of(
                "COATCHECK_DATABASE_URL", "jdbc:postgresql://db/coatcheck",
                "COATCHECK_DATABASE_USER", "me",
                "COATCHECK_DATABASE_PASSWORD", "secret"));
    assertThat(valid(environment, Map.of()).replica()).isEmpty();
    environment.put("COATCHECK_DATABASE_REPLICA_URL", "jdbc:postgresql://near/coatcheck");

    assertThat(valid(environment, Map.of()).replica())
        .contains(new DatabaseSettings("jdbc:postgresql://near/coatcheck", "me", "secret", 5));
    assertThat(
            valid(environment, Map.of(Setting.DATABASE_REPLICA_CONNECTIONS, "2"))
                .replica()
                .orElseThrow()
                .connectionsMax())
        .isEqualTo(2);
  }

  /** They would replace the search path, the time-outs, the user and the names of sessions. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "options=public",
        "options",
        "currentSchema=public",
        "user=other",
        "ApplicationName=shop",
        "connectTimeout=0",
        "loginTimeout=0",
        "socketTimeout=0"
      })
  void noUrlReplacesWhatConnectionsBeginWith(String parameter) {
    String fault =
        "must not set %s: Coatcheck sets it itself".formatted(parameter.replaceFirst("=.*", ""));
    for (String url : List.of("?ssl=true&" + parameter, "?" + parameter + "&ssl=true")) {
      assertThat(
              faults(
                  Map.of(
                      "COATCHECK_DATABASE_URL",
                      "jdbc:postgresql://db/coatcheck" + url,
                      "COATCHECK_DATABASE_USER",
                      "me",
                      "COATCHECK_SOURCE_SHOP_URL",
                      "jdbc:postgresql://db/shop" + url,
                      "COATCHECK_SOURCE_SHOP_USER",
                      "me")))
          .contains(
              "COATCHECK_DATABASE_URL (--database-url) " + fault,
              "COATCHECK_SOURCE_SHOP_URL " + fault);
    }
  }

  @Test
  void allFaultsOfAReplicaAreReported() {
    assertThat(
            faults(
                Map.of(
                    "COATCHECK_DATABASE_REPLICA_URL", "jdbc:postgresql://near/db?password=secret",
                    "COATCHECK_DATABASE_REPLICA_CONNECTIONS", "0")))
        .isEqualTo(
            """
            COATCHECK_DATABASE_REPLICA_CONNECTIONS (--database-replica-connections) must be a \
            number from 1 to 100
            COATCHECK_DATABASE_REPLICA_URL (--database-replica-url) is set, but \
            COATCHECK_DATABASE_URL is not
            COATCHECK_DATABASE_REPLICA_URL (--database-replica-url) contains a password, and the \
            URL is printed: move the password to COATCHECK_DATABASE_PASSWORD\
            """);
    assertThat(
            faults(
                Map.of(
                    "COATCHECK_DATABASE_URL", "jdbc:postgresql://db/coatcheck",
                    "COATCHECK_DATABASE_USER", "me",
                    "COATCHECK_DATABASE_REPLICA_URL", "jdbc:postgresql://db/coatcheck")))
        .isEqualTo(
            "COATCHECK_DATABASE_REPLICA_URL (--database-replica-url) is the same as"
                + " COATCHECK_DATABASE_URL");
  }

  @Test
  void sourcesAreNamedInTheEnvironment() {
    Config config =
        valid(
            Map.of(
                "COATCHECK_SOURCE_SHOP_DB_URL", "jdbc:postgresql://shop:5432/shop",
                "COATCHECK_SOURCE_SHOP_DB_USER", "owner",
                "COATCHECK_SOURCE_SHOP_DB_PASSWORD", "secret",
                "COATCHECK_SOURCE_B_URL", "jdbc:postgresql://b/b?prepareThreshold=0",
                "COATCHECK_SOURCE_B_USER", "b",
                "COATCHECK_SOURCE_UNSET_PASSWORD", ""),
            Map.of());

    assertThat(config.sources()).containsOnlyKeys("shop_db", "b");
    assertThat(config.sources().get("shop_db"))
        .isEqualTo(new DatabaseSettings("jdbc:postgresql://shop:5432/shop", "owner", "secret", 4));
    assertThat(config.toString()).contains("shop:5432").doesNotContain("secret");
    assertThat(valid(Map.of(), Map.of()).sources()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          COATCHECK_SOURCE_A_USER     | me            | COATCHECK_SOURCE_A_URL is not
          COATCHECK_SOURCE_A_PASSWORD | secret        | COATCHECK_SOURCE_A_URL is not
          COATCHECK_SOURCE_A_FOO      | secret        | must end in _URL, _USER or _PASSWORD
          COATCHECK_SOURCE_URL        | secret        | invalid source name
          COATCHECK_SOURCE_           | secret        | must end in
          COATCHECK_SOURCE_A_url      | secret        | must end in
          COATCHECK_SOURCE__URL       | secret        | invalid source name
          COATCHECK_SOURCE_shop_URL   | secret        | invalid source name
          COATCHECK_SOURCE_1A_URL     | secret        | invalid source name
          COATCHECK_SOURCE_A234567890123456789012345678901X_URL | secret | invalid source name
          COATCHECK_SOURCE_GATEWAY_URL | jdbc:postgresql://a/b | choose another
          COATCHECK_SOURCE_OK_URL     | postgres://db | COATCHECK_SOURCE_OK_URL must look like
          COATCHECK_SOURCE_OK_URL     | jdbc:postgresql://a/b?password=secret | COATCHECK_SOURCE_OK_PASSWORD
          COATCHECK_SOURCE_OK_URL     | jdbc:postgresql://shop:secret@a:5432/b | COATCHECK_SOURCE_OK_PASSWORD
          COATCHECK_SOURCE_B_URL      | jdbc:postgresql://a/b | COATCHECK_SOURCE_B_USER is needed
          """)
  void aSourceThatIsNotWellNamedIsAFault(String variable, String value, String fault) {
    Map<String, String> environment = new HashMap<>(Map.of(variable, value));
    environment.put("COATCHECK_SOURCE_OK_USER", "me");
    environment.putIfAbsent("COATCHECK_SOURCE_OK_URL", "jdbc:postgresql://a/b");

    assertThat(faults(environment))
        .hasLineCount(1)
        .startsWith("COATCHECK_SOURCE_")
        .contains(fault)
        .doesNotContain("secret");
  }

  @Test
  void aVariableWithinTwoLettersOfASettingIsNamed() {
    assertThat(
            UnknownVariables.named(
                List.of("COATCHECK_PROT", "COATCHECK_DATABASE_URI", "COATCHECKPORT", "PORT")))
        .containsExactly(
            "COATCHECKPORT is not a setting and has no effect. Did you mean COATCHECK_PORT?",
            "COATCHECK_DATABASE_URI is not a setting and has no effect. Did you mean"
                + " COATCHECK_DATABASE_URL?",
            "COATCHECK_PROT is not a setting and has no effect. Did you mean COATCHECK_PORT?");
  }

  @Test
  void settingsAndWhatOthersReadAreNot() {
    assertThat(
            UnknownVariables.named(
                List.of(
                    "COATCHECK_PORT",
                    "COATCHECK_URL",
                    "COATCHECK_KEY_FILE",
                    "COATCHECK_JAVA_OPTS",
                    "COATCHECK_AOT",
                    "COATCHECK_TEST_HOST",
                    "COATCHECK_SOURCE_SHOP_URL",
                    "COATCHECK_SOMETHING_ELSE")))
        .isEmpty();
  }

  private static Map<String, String> onDatabase(String variable, Path value) {
    return Map.of(
        "COATCHECK_DATABASE_URL",
        "jdbc:postgresql://db/coatcheck",
        "COATCHECK_DATABASE_USER",
        "me",
        variable,
        value.toString());
  }

  private static String faults(Map<String, String> environment) {
    return switch (Config.read(environment, Map.of())) {
      case Config.Parsed.Valid valid -> throw new AssertionError(valid);
      case Config.Parsed.Invalid(List<String> faults) -> String.join("\n", faults);
    };
  }

  @Test
  void withoutRangesAnyWorkerOfAnyLayoutMayBeLeased() {
    WorkerRanges workers = valid(Map.of(), Map.of()).leases().workers();

    assertThat(workers.of(SnowflakeLayout.DEFAULT)).contains(new WorkerRanges.Range(0, 1_021));
    assertThat(workers.of(SnowflakeLayout.WIDE_SEQUENCE)).contains(new WorkerRanges.Range(0, 253));
  }

  private static Config valid(Map<String, String> environment, Map<Setting, String> flags) {
    return switch (Config.read(environment, flags)) {
      case Config.Parsed.Valid(Config config) -> config;
      case Config.Parsed.Invalid invalid -> throw new AssertionError(invalid.faults());
    };
  }
}
