package dev.coatcheck.app.cli;

import static dev.coatcheck.app.cli.AtGateway.run;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.time.Instant;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The verbs of {@code coatcheck keys}. */
class KeyVerbsTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final SnowflakeLayout LAYOUT = SnowflakeLayout.DEFAULT;

  @Test
  void theKeysOfADayAreTwoNumbers() {
    Terminal day =
        keys(
            "bounds",
            "--layout=default",
            "--from=2026-11-20T00:00:00Z",
            "--to=2026-11-21T00:00:00Z");

    assertThat(day).isEqualTo(new Terminal(0, span("2026-11-20", "2026-11-21") + "\n", ""));
  }

  @Test
  void bucketsAreALineEach() {
    Terminal buckets =
        keys(
            "bounds",
            "--layout=default",
            "--from=2023-01-01T00:00:00Z",
            "--to=2023-01-03T00:00:00Z",
            "--bucket-millis=86400000");

    assertThat(buckets.lines())
        .containsExactly(
            "1,2023-01-02T00:00:00Z,2023-01-03T00:00:00Z," + span("2023-01-02", "2023-01-03"),
            "0,2023-01-01T00:00:00Z,2023-01-02T00:00:00Z," + span("2023-01-01", "2023-01-02"));
  }

  @Test
  void bucketsOfTwoKeysAreALineEach() {
    Terminal buckets =
        keys(
            "bounds",
            "--layout=default",
            "--from-key=" + first("2023-01-01"),
            "--to-key=" + first("2023-01-02"),
            "--bucket-millis=86400000");

    assertThat(buckets.lines())
        .containsExactly(
            "1,2023-01-02T00:00:00Z,2023-01-03T00:00:00Z," + span("2023-01-02", "2023-01-03"),
            "0,2023-01-01T00:00:00Z,2023-01-02T00:00:00Z," + span("2023-01-01", "2023-01-02"));
  }

  @Test
  void aSpanWithoutKeysIsAnError() {
    assertThat(
            keys(
                "bounds",
                "--layout=default",
                "--from=2020-01-01T00:00:00Z",
                "--to=2020-01-02T00:00:00Z"))
        .isEqualTo(new Terminal(1, "", "coatcheck keys bounds: no key has a time in this span.\n"));
    assertThat(keys("bounds", "--layout=default").status()).isEqualTo(2);
    assertThat(keys("bounds", "--layout=default", "--from=x", "--from-key=1").status())
        .isEqualTo(2);
    assertThat(keys("bounds", "--from=2020-01-01T00:00:00Z").err()).contains("exactly one");
  }

  @Test
  void keysForAGivenTimeCarryIt() {
    Terminal made = keys("next", "--count=2", "--at=2023-01-01T00:00:01Z");

    assertThat(made.lines()).hasSize(2);
    assertThat(made.lines())
        .allMatch(
            key ->
                LAYOUT.timeOf(Long.parseLong(key)).equals(Instant.parse("2023-01-01T00:00:01Z")));
  }

  @Test
  void aSegmentIsCreatedCountsAndIsListed() {
    assertThat(run("segments", "put", "receipt", "--bits=32", "--step-min=10", "--start=5"))
        .isEqualTo(new Terminal(0, "receipt,0,2147483643\n", ""));
    assertThat(keys("next", "--scheme=segment", "--tag=receipt", "--count=3"))
        .isEqualTo(new Terminal(0, "5\n6\n7\n", ""));
    assertThat(run("segments", "list").out()).startsWith("receipt,");
    assertThat(run("segments", "put", "receipt").err()).contains("immutable_field");
  }

  @Test
  void theFenceSaysWhetherItWasClosed() {
    assertThat(keys("fence", "--advance=0", "--dated-worker=2"))
        .isEqualTo(
            new Terminal(
                0,
                "The fence was open already; nothing was done. The last dated worker is 1.\n",
                ""));
    assertThat(keys("fence").status()).isEqualTo(2);
  }

  private static String span(String from, String to) {
    return first(from) + "," + (first(to) - 1);
  }

  private static long first(String day) {
    long millis = Instant.parse(day + "T00:00:00Z").toEpochMilli();
    return LAYOUT.key(LAYOUT.position(millis), 0);
  }

  private static Terminal keys(String... arguments) {
    return run(Stream.concat(Stream.of("keys"), Arrays.stream(arguments)).toArray(String[]::new));
  }
}
