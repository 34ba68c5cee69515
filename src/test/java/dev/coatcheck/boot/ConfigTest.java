package dev.coatcheck.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ConfigTest {
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
    Config.Parsed parsed =
        Config.read(
            Map.of(
                "COATCHECK_PORT", "tcp://10.0.0.1:8080",
                "COATCHECK_MANAGEMENT_PORT", "70000",
                "COATCHECK_DATABASE_URL", "postgres://db",
                "COATCHECK_DATABASE_CONNECTIONS", "1",
                "COATCHECK_REDIRECT_HOSTS", "a.example,,b",
                "COATCHECK_TRUSTED_PROXIES", "10.0.0.7,proxy",
                "COATCHECK_CACHE_ENTRIES", "-1"),
            Map.of());

    assertThat(parsed).isInstanceOf(Config.Parsed.Invalid.class);
    assertThat(((Config.Parsed.Invalid) parsed).faults())
        .hasSize(8)
        .anyMatch(fault -> fault.startsWith("COATCHECK_PORT (--port) "))
        .anyMatch(fault -> fault.startsWith("COATCHECK_MANAGEMENT_PORT "))
        .anyMatch(fault -> fault.startsWith("COATCHECK_DATABASE_URL "))
        .anyMatch(fault -> fault.startsWith("COATCHECK_DATABASE_USER "))
        .anyMatch(fault -> fault.startsWith("COATCHECK_DATABASE_CONNECTIONS "))
        .anyMatch(fault -> fault.startsWith("COATCHECK_REDIRECT_HOSTS "))
        .anyMatch(fault -> fault.startsWith("COATCHECK_TRUSTED_PROXIES "))
        .anyMatch(fault -> fault.startsWith("COATCHECK_CACHE_ENTRIES "));
  }

  @Test
  void anIpv6AddressIsWrittenAsUrlsWantIt() {
    assertThat(valid(Map.of("COATCHECK_HOST", "::1"), Map.of()).host()).isEqualTo("[::1]");
    assertThat(valid(Map.of("COATCHECK_HOST", "[::1]"), Map.of()).host()).isEqualTo("[::1]");
  }

  @Test
  void credentialsWithoutAnAddressAreAFault() {
    assertThat(Config.read(Map.of("COATCHECK_DATABASE_PASSWORD", "secret"), Map.of()))
        .isInstanceOfSatisfying(
            Config.Parsed.Invalid.class,
            invalid ->
                assertThat(invalid.faults())
                    .singleElement()
                    .asString()
                    .contains("COATCHECK_DATABASE_URL")
                    .doesNotContain("secret"));
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

  private static Config valid(Map<String, String> environment, Map<Setting, String> flags) {
    return switch (Config.read(environment, flags)) {
      case Config.Parsed.Valid(Config config) -> config;
      case Config.Parsed.Invalid invalid -> throw new AssertionError(invalid.faults());
    };
  }
}
