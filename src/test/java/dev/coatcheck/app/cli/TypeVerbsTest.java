package dev.coatcheck.app.cli;

import static dev.coatcheck.app.cli.AtGateway.run;
import static dev.coatcheck.app.cli.AtGateway.runWith;
import static dev.coatcheck.app.cli.AtGateway.shell;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code types get}, {@code put}, {@code set} and {@code diff}. */
class TypeVerbsTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final JsonMapper JSON = new JsonMapper();

  @TempDir static Path folder;

  @BeforeEach
  void put() {
    assertThat(
            shell(
                    "types put order --prefix=ord --redirect=https://shop.example/{id} --legacy"
                        + " --legacy-max-id=4711 --url-template=/orders/{legacy:order}"
                        + " --on-outage=refuse --confirm-links")
                .err())
        .isEmpty();
  }

  @Test
  void aTypeIsShownFieldByField() {
    Terminal shown = run("types", "get", "order");

    assertThat(shown.lines())
        .contains(
            "name,order",
            "prefix,ord",
            "redirect.template,https://shop.example/{id}",
            "redirect.public,true",
            "legacy.max_id,4711",
            "url_templates,/orders/{legacy:order}",
            "on_outage,refuse")
        .noneMatch(line -> line.startsWith("tag") || line.startsWith("public_rule"));
    JsonNode type = JSON.readTree(run("types", "get", "order", "--json").out());
    assertThat(type.at("/redirect/template").asString()).isEqualTo("https://shop.example/{id}");
    assertThat(type.path("tag").isNull()).isTrue();
    assertThat(run("types", "get", "nothing"))
        .satisfies(
            none -> {
              assertThat(none.status()).isEqualTo(1);
              assertThat(none.err())
                  .startsWith("coatcheck types get: ")
                  .contains("(type_unknown)", "coatcheck types list lists the types")
                  .doesNotContain("/v1/");
            });
  }

  @Test
  void aSetChangesOnlyWhatIsNamed() {
    JsonNode before = JSON.readTree(run("types", "get", "order", "--json").out());

    Terminal set = run("types", "set", "order", "--redirect-max-age-seconds=60");

    assertThat(set)
        .isEqualTo(
            new Terminal(
                0,
                "order,ord,bigint,snowflake,https://shop.example/{id},/orders/{legacy:order}\n",
                ""));
    JsonNode after = JSON.readTree(run("types", "get", "order", "--json").out());
    assertThat(after.at("/redirect/max_age_seconds").asInt()).isEqualTo(60);
    for (String kept : List.of("legacy", "url_templates", "on_outage", "client_names", "prefix")) {
      assertThat(after.path(kept)).as(kept).isEqualTo(before.path(kept));
    }
    assertThat(run("types", "set", "order", "--redirect-private=false").status()).isZero();
    assertThat(run("types", "set", "order").err()).contains("Name the fields to change");
    assertThat(run("types", "set", "order", "--prefix=x").err())
        .startsWith("coatcheck types set: --prefix: ")
        .contains("(immutable_field)");
    assertThat(run("types", "set", "nothing", "--on-outage=refuse").err())
        .contains("(type_unknown)");
  }

  @Test
  void aPolicyIsTakenAwayOnlyWithAWordOfConsentIfLinksEnd() {
    assertThat(run("mint", "order", "1").status()).isZero();

    Terminal refused = run("types", "set", "order", "--no-redirect");

    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err())
        .contains("(links_would_die)", "\n  redirect: ", "--confirm-links", " times in 30 days.")
        .doesNotContain("confirm=");
    assertThat(run("types", "put", "order", "--prefix=ord").err()).contains("(links_would_die)");
    assertThat(run("types", "get", "order").out()).contains("redirect.template,");

    Terminal confirmed = run("types", "set", "order", "--no-redirect", "--confirm-links");
    assertThat(confirmed.status()).as(confirmed.err()).isZero();
    assertThat(run("types", "get", "order").out())
        .doesNotContain("redirect.template,")
        .contains("legacy.max_id,4711");
  }

  @Test
  void theRuleOfOlderPublicIdsIsReplacedAsAWhole() {
    run(
        "types",
        "put",
        "invoice",
        "--prefix=inv",
        "--public-scheme=hashids",
        "--public-salt-file=" + TestDatabase.fileWith("this is my salt"),
        "--public-text-prefix=inv-",
        "--confirm-links");

    Terminal set =
        shell(
            "types set invoice --public-scheme=pattern --public-alphabet=0123456789abcdef"
                + " --public-min-length=16 --public-max-length=16 --confirm-links");

    assertThat(set.status()).as(set.err()).isZero();
    assertThat(run("types", "get", "invoice").out())
        .contains("public_pattern.alphabet,0123456789abcdef")
        .doesNotContain("public_rule", "inv-");
    assertThat(run("types", "set", "invoice", "--no-public-scheme", "--confirm-links").status())
        .isZero();
    assertThat(run("types", "get", "invoice").out()).doesNotContain("public_");
    assertThat(
            run("types", "set", "invoice", "--public-salt-file=" + TestDatabase.fileWith("x"))
                .status())
        .isEqualTo(2);
  }

  @Test
  void aFileThatCanNotBeReadIsNamedWithTheReason() throws IOException {
    assertThat(run("types", "diff", "order", "--file=/no/file"))
        .isEqualTo(misused("diff: can't read a type from /no/file: there is no such file."));
    assertThat(run("types", "plan", "--file=/no/file"))
        .isEqualTo(misused("plan: can't read /no/file: there is no such file."));
    assertThat(run("types", "pin", "order", "--era=x", "--file=/no/file"))
        .isEqualTo(misused("pin: can't read keys from /no/file: there is no such file."));
    Path latin = Files.write(folder.resolve("latin"), new byte[] {(byte) 0xe4});
    assertThat(run("types", "plan", "--file=" + latin))
        .isEqualTo(misused("plan: can't read " + latin + ": it is not UTF-8."));
    Path half = Files.writeString(folder.resolve("half.json"), "{\n");
    assertThat(run("types", "diff", "order", "--file=" + half))
        .isEqualTo(misused("diff: " + half + " is not JSON: line 2, column 1."));
  }

  @Test
  void aSaltComesFromAFileAndNeverFromTheArguments() throws IOException {
    String[] put = {
      "types", "put", "salted", "--prefix=slt", "--public-scheme=hashids", "--public-text-prefix=s-"
    };
    Path file = Files.writeString(folder.resolve("salt"), "from a file\n");

    assertThat(run(with(put, "--public-salt-file=" + file)).status()).isZero();
    assertThat(saltOf("salted")).isEqualTo("from a file");
    String[] stdin = with(put, "--public-salt-file=-", "--confirm-links");
    assertThat(runWith("from standard input", stdin).status()).isZero();
    assertThat(saltOf("salted")).isEqualTo("from standard input");
    assertThat(run(with(put, "--public-salt=x")).err())
        .contains("Unknown option: '--public-salt=x'. Did you mean --public-salt-file?");
    assertThat(run(with(put, "--public-salt-file=/no/file")).err())
        .startsWith(
            "coatcheck types put: can't read the salt from /no/file: there is no such file.");
    assertThat(saltOf("salted")).isEqualTo("from standard input");
  }

  private static String[] with(String[] verb, String... more) {
    return Stream.concat(Stream.of(verb), Stream.of(more)).toArray(String[]::new);
  }

  private static String saltOf(String type) {
    return JSON.readTree(run("types", "get", type, "--json").out())
        .at("/public_rule/salt")
        .asString();
  }

  private static Terminal misused(String message) {
    return new Terminal(2, "", "coatcheck types " + message + "\n");
  }

  @Test
  void aDifferenceIsALineForEachSideAndExitsWithOne() {
    Terminal diff =
        shell(
            "types diff order --prefix=ord --redirect=https://pay.example/{id} --legacy"
                + " --url-template=/orders/{legacy:order} --url-template=/o/{legacy:order}"
                + " --on-outage=refuse");

    assertThat(diff)
        .isEqualTo(
            new Terminal(
                1,
                """
                - redirect.template https://shop.example/{id}
                + redirect.template https://pay.example/{id}
                - legacy.max_id 4711
                + url_templates /o/{legacy:order}
                """,
                ""));
    assertThat(
            run("types", "diff", "order", "--prefix=ord", "--json").lines().stream()
                .map(line -> JSON.readTree(line).path("field").asString()))
        .contains("redirect.template", "legacy.status", "url_templates", "on_outage");
    assertThat(run("types", "diff", "fresh", "--prefix=fr").out())
        .contains("+ prefix fr\n", "+ generate snowflake\n", "+ client_names principal\n")
        .doesNotContain("\n- ");
    assertThat(run("types", "diff", "order", "--prefix=ord", "--on-outage=panic").status())
        .isEqualTo(2);
  }

  /** The same defaults as the gateway's, for each kind of type. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "--prefix=same",
        "--prefix=same --key=uuid",
        "--prefix=same --generate=none",
        "--prefix=same --redirect=https://a.example/{id} --redirect-private --legacy"
            + " --legacy-sunset-at=2999-01-31T12:00:00+02:00",
        "--prefix=same --public-scheme=hashids --public-text-prefix=x-",
        "--prefix=same --public-scheme=sqids --public-text-prefix=y-",
        "--prefix=same --public-scheme=pattern --public-text-prefix=z- --public-alphabet=01"
            + " --public-min-length=3 --public-max-length=4",
        "--prefix=same --client-names=shared --on-outage=refuse --stale-seconds-max=3",
      })
  void afterAPutThereIsNoDifference(String flags) {
    String name = "same" + Integer.toHexString(flags.hashCode());
    String[] own = flags.replace("--prefix=same", "--prefix=" + name).split(" ", -1);

    Terminal put = run(join("put", name, own));

    assertThat(put.status()).as(put.err()).isZero();
    assertThat(run(join("diff", name, own))).isEqualTo(new Terminal(0, "", ""));
    assertThat(run(join("diff", name, "--prefix=other")).status()).isEqualTo(1);
  }

  private static String[] join(String verb, String name, String... flags) {
    List<String> words = new ArrayList<>(List.of("types", verb, name));
    words.addAll(Arrays.asList(flags));
    return words.toArray(String[]::new);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "put order --prefix=ord --redirect-status=301 | --redirect-status needs --redirect.",
        "put order --prefix=ord --redirect-private=false | --redirect-private needs --redirect.",
        "diff order --prefix=ord --legacy-max-id=5 | --legacy-max-id needs --legacy.",
        "put order --prefix=ord --fallback-url=https://a.example --dead-link-title=en=Sold"
            + " | Give --dead-link-title or --fallback-url, not both.",
        "set order --no-redirect --redirect-status=301"
            + " | Give --no-redirect or --redirect-status, not both.",
        "set order --no-legacy --legacy | Give --no-legacy or --legacy, not both.",
        "set order --no-legacy --no-legacy-brownouts"
            + " | Give --no-legacy or --no-legacy-brownouts, not both.",
        "set order --no-url-templates --url-template=/o/{legacy:order}"
            + " | Give --no-url-templates or --url-template, not both.",
        "set order --no-public-scheme --public-scheme=uuid"
            + " | Give --no-public-scheme or --public-scheme, not both.",
        "set order --no-public-scheme --public-salt-file=x"
            + " | Give --no-public-scheme or --public-salt-file, not both.",
      })
  void flagsThatContradictEachOtherOrWouldBeDroppedAreRefused(String verb, String why) {
    String[] words = ("types " + verb).split(" ", -1);

    Terminal refused = run(words);

    assertThat(refused.status()).isEqualTo(2);
    assertThat(refused.err()).startsWith("coatcheck types " + words[1] + ": " + why + "\n");
  }

  @Test
  void allFlagsThatAreFaultyAreSaidAtOnce() {
    Terminal put =
        run(
            join(
                "put",
                "order",
                "--legacy-max-id=5",
                "--legacy-status=301",
                "--redirect-status=301",
                "--public-alphabet=abc"));
    assertThat(put.status()).isEqualTo(2);
    assertThat(put.err())
        .startsWith(
            """
            coatcheck types put: the flags have 5 faults:
              - Missing required option: '--prefix=PREFIX'
              - --redirect-status needs --redirect.
              - --legacy-status needs --legacy.
              - --legacy-max-id needs --legacy.
              - Options --public-… need --public-scheme.
            """);
    assertThat(run(join("set", "order", "--no-legacy", "--legacy", "--legacy-status=301")).err())
        .startsWith(
            """
            coatcheck types set: the flags have 2 faults:
              - Give --no-legacy or --legacy, not both.
              - Give --no-legacy or --legacy-status, not both.
            """);
  }

  /** The gateway alone knows which hosts its operator lists. */
  @Test
  void aRedirectToAListedHostOverHttpIsStoredReadAndCompared() {
    try (GatewayFixture gateway =
        GatewayFixture.own("COATCHECK_REDIRECT_HOSTS", "http://shop.example")) {
      String url = "--url=" + gateway.uri();
      String key = "--key-file=" + TestDatabase.fileWith(gateway.key());
      String[] flags = {url, key, "--prefix=plain", "--redirect=http://shop.example/{id}"};

      assertThat(Terminal.run(join("put", "plain", flags)).err()).isEmpty();
      assertThat(Terminal.run(join("diff", "plain", flags))).isEqualTo(new Terminal(0, "", ""));
      try (GatewayFixture restarted = GatewayFixture.on(gateway.database)) {
        String id = restarted.client().mint("plain").text("/id");
        assertThat(restarted.client().get("/r/" + id).status()).isEqualTo(404);
      }
    }
  }

  @Test
  void aTypeGoesToAFileAndBack() throws IOException {
    String json = run("types", "get", "order", "--json").out();
    Path file = Files.writeString(folder.resolve("order.json"), json);

    assertThat(run("types", "diff", "order", "--file=" + file)).isEqualTo(new Terminal(0, "", ""));
    assertThat(runWith(json, "types", "put", "order", "--file=-").status()).isZero();
    Files.writeString(file, json.replace("shop.example", "pay.example"));
    assertThat(run("types", "diff", "order", "--file=" + file).lines())
        .containsExactly(
            "- redirect.template https://shop.example/{id}",
            "+ redirect.template https://pay.example/{id}");
    assertThat(run("types", "put", "order", "--file=" + file).status()).isZero();
    assertThat(run("types", "get", "order").out()).contains("https://pay.example/{id}");

    assertThat(run("types", "put", "order", "--file=" + file, "--prefix=ord").err())
        .contains("Give --file or the flags of a type, not both.");
    assertThat(run("types", "put", "order", "--file=/no/file").status()).isEqualTo(2);
    assertThat(runWith("[]", "types", "put", "order", "--file=-").err()).contains("no JSON object");
    assertThat(run("types", "put", "order").err())
        .startsWith("coatcheck types put: Missing required option: '--prefix=PREFIX'\n");
  }
}
