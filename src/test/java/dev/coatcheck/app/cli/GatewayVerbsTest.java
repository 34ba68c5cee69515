package dev.coatcheck.app.cli;

import static dev.coatcheck.app.cli.AtGateway.run;
import static dev.coatcheck.app.cli.AtGateway.runWith;
import static dev.coatcheck.app.cli.AtGateway.shell;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.coatcheck.Main;
import dev.coatcheck.TestJvm;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.client.FaultyProxy;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The verbs that call a running gateway. */
class GatewayVerbsTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  @TempDir static Path folder;

  @BeforeAll
  static void start() {
    assertThat(run("types", "put", "charge", "--prefix=ch"))
        .isEqualTo(new Terminal(0, "charge,ch,bigint,snowflake,,\n", ""));
    run("types", "put", "user", "--prefix=usr", "--key=uuid");
  }

  @Test
  void typesAreDefinedChangedAndListed() {
    String template = "https://chat.example/{key}";

    assertThat(
            run(
                "types",
                "put",
                "message",
                "--prefix=msg",
                "--redirect=" + template,
                "--redirect-status=308",
                "--redirect-max-age-seconds=60",
                "--expose-key"))
        .isEqualTo(new Terminal(0, "message,msg,bigint,snowflake," + template + ",\n", ""));
    assertThat(run("types", "list").lines())
        .containsSubsequence(
            "charge,ch,bigint,snowflake,,",
            "message,msg,bigint,snowflake," + template + ",",
            "user,usr,uuid,uuidv7,,");

    assertRefused("immutable_field", run("types", "put", "message", "--prefix=ch"));
    assertRefused("path_invalid", run("types", "put", "../charge?", "--prefix=x"));
    assertThat(run("types", "put", "message").status()).isEqualTo(2);
  }

  @Test
  void theFlagsOfATypeReachItAndItsOldNumbersAreCounted() {
    assertThat(
            shell(
                "types put user --prefix=usr --key=uuid --legacy --legacy-status=301"
                    + " --legacy-private --legacy-max-id=9"
                    + " --legacy-deprecated-at=2026-01-01T00:00:00Z"
                    + " --legacy-sunset-at=2099-01-01T00:00:00Z --legacy-max-age-seconds=5"
                    + " --public-scheme=typeid --public-type-name=user --public-text-prefix=old-"
                    + " --on-outage=refuse --stale-seconds-max=3"))
        .isEqualTo(
            new Terminal(
                0,
                "user,usr,uuid,uuidv7,,\n",
                "Legacy IDs of user have no target yet: the type has no redirect. Add"
                    + " --redirect.\n"));
    assertRefused(
        "field_invalid",
        run("types", "put", "user", "--prefix=usr", "--key=uuid", "--on-outage=panic"));
    assertThat(
            run(
                    "types",
                    "put",
                    "user",
                    "--prefix=usr",
                    "--public-salt-file=" + TestDatabase.fileWith("x"))
                .status())
        .isEqualTo(2);
    assertThat(run("types", "legacy-hits", "user")).isEqualTo(new Terminal(0, "", ""));
    assertThat(run("types", "legacy-hits", "user", "--from=2026-01-01", "--to=2026-02-01"))
        .isEqualTo(new Terminal(0, "", ""));
    assertRefused("parameter_invalid", run("types", "legacy-hits", "user", "--from=today"));
    assertThat(run("types", "legacy-callers", "user")).isEqualTo(new Terminal(0, "", ""));
    assertRefused("parameter_invalid", run("types", "legacy-callers", "user", "--kind=name"));
  }

  @Test
  void theUrlTemplatesOfATypeAreShownBehindItsRedirect() {
    String one = "/charges/{legacy:charge}";
    String two = "/{*}/charges/{legacy:charge}";

    assertThat(
            run(
                "types",
                "put",
                "charge",
                "--prefix=ch",
                "--legacy",
                "--url-template=" + one,
                "--url-template",
                two))
        .isEqualTo(new Terminal(0, "charge,ch,bigint,snowflake,," + one + " " + two + "\n", ""));
    assertThat(run("types", "list").lines())
        .contains("charge,ch,bigint,snowflake,," + one + " " + two);
    assertThat(run("types", "put", "charge", "--prefix=ch", "--confirm-links"))
        .isEqualTo(new Terminal(0, "charge,ch,bigint,snowflake,,\n", ""));
  }

  @Test
  void whatBrowsersGetForEndedLinksIsAnOption() {
    // Other tests give this type links.
    String[] user = {"types", "put", "user", "--prefix=usr", "--key=uuid", "--confirm-links"};
    assertThat(
            run(with(
                    user,
                    "--dead-link-title",
                    "en=Sold = gone",
                    "--dead-link-title=de=Verkauft",
                    "--dead-link-text=en=See our shop.",
                    "--dead-link-text=de=Mehr im Laden.",
                    "--dead-link-language=de"))
                .status())
        .isZero();
    assertThat(GATEWAY.client().get("/v1/types/user").body().get("dead_link").toString())
        .isEqualTo(
            """
            {"default_language":"de","title":{"de":"Verkauft","en":"Sold = gone"},\
            "text":{"de":"Mehr im Laden.","en":"See our shop."}}\
            """);
    String url = "https://shop.example/users";
    assertThat(run(with(user, "--fallback-url=" + url)).status()).isZero();
    assertThat(GATEWAY.client().get("/v1/types/user").text("/fallback_url")).isEqualTo(url);
    assertThat(run(user).status()).isZero();
  }

  private static String[] with(String[] command, String... more) {
    return Stream.concat(Stream.of(command), Stream.of(more)).toArray(String[]::new);
  }

  @Test
  void publicIdsEndForGood() {
    List<String> ids = ids(run("mint", "charge", "901", "902", "903"));

    assertThat(run("ids", "merge", ids.get(0), "--into=" + ids.get(1)))
        .isEqualTo(new Terminal(0, "merged " + ids.get(0) + " into " + ids.get(1) + "\n", ""));
    assertThat(run("ids", "revoke", ids.get(2), "--reason=leaked").out())
        .startsWith("revoked " + ids.get(2) + " at 2");

    assertThat(run("resolve", ids.get(0)).out()).isEqualTo(ids.get(0) + ",charge,902\n");
    assertThat(run("resolve", ids.get(2)).err()).contains("public_id_revoked");
    assertRefused("id_ended", run("ids", "revoke", ids.get(0)));
    assertRefused("merge_refused", run("ids", "merge", ids.get(1), "--into=" + ids.get(0)));
    assertThat(run("ids", "merge", ids.get(1)).status()).isEqualTo(2);

    assertRefused("public_id_is_survivor", run("ids", "erase", ids.get(1)));
    assertThat(run("ids", "erase", ids.get(1), "--cascade").out())
        .startsWith("erased " + ids.get(1) + " at 2")
        .contains("; nothing is left at 2");
    assertThat(run("resolve", ids.get(0)).err()).contains("public_id_erased");
  }

  @Test
  void whatIsMintedResolvesAndLooksUp() {
    Terminal minted = run("mint", "charge", "1", "2", "3");

    assertThat(minted.status()).as(minted.err()).isZero();
    assertThat(minted.lines()).allMatch(line -> line.matches("ch_[0-9A-Za-z]{24},charge,[123]"));
    assertThat(run("mint", "charge", "3", "2", "1").lines())
        .containsExactlyElementsOf(minted.lines().reversed());
    assertThat(run("lookup", "charge", "1", "2", "3")).isEqualTo(minted);
    assertThat(run(join("resolve", ids(minted)))).isEqualTo(minted);
  }

  @Test
  void linesAreReadAThousandACallAndAnsweredInTheirOrder() {
    List<String> keys = IntStream.range(10_000, 12_345).mapToObj(Integer::toString).toList();
    String lines = String.join("\r\n", keys) + "\n\n";

    Terminal minted = runWith(lines, "mint", "charge");

    assertThat(minted.status()).as(minted.err()).isZero();
    assertThat(keys(minted)).isEqualTo(keys);
    assertThat(runWith(lines, "lookup", "charge", "-")).isEqualTo(minted);
    assertThat(runWith(String.join("\n", ids(minted)), "resolve", "-")).isEqualTo(minted);
    assertThat(runWith("", "mint", "charge")).isEqualTo(new Terminal(0, "", ""));
  }

  @Test
  void keysAreGeneratedByTheCount() {
    Terminal minted = run("mint", "user", "--count", "1001");

    assertThat(minted.status()).as(minted.err()).isZero();
    assertThat(minted.lines()).hasSize(1001).doesNotHaveDuplicates();
    assertThat(run("mint", "user", "--count", "0").status()).isEqualTo(2);
    assertThat(run("mint", "user", "--count", "-1").status()).isEqualTo(2);
    assertThat(run("mint", "user", "--count", "1", "7").status()).isEqualTo(2);
  }

  @Test
  void anEmptyArgumentIsRefusedBeforeAnythingIsDone() {
    for (Terminal refused :
        List.of(
            run("mint", "charge", ""),
            run("resolve", " "),
            run("lookup", "charge", ""),
            run("mint", "charge", "", "654321"))) {
      assertThat(refused.status()).isEqualTo(2);
      assertThat(refused.out()).isEmpty();
      assertThat(refused.err()).contains(": An argument is empty. ");
    }
    assertThat(run("lookup", "charge", "654321").err()).contains("key_unknown");
  }

  @Test
  void aRefusedGeneratedKeyIsNamedByItsNumber() {
    run("types", "put", "leaf", "--prefix=leaf", "--retired");

    Terminal refused = run("mint", "leaf", "--count", "1001");

    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err())
        .startsWith("item 1: type_retired. ")
        .contains("\nitem 1001: type_retired. ")
        .endsWith("coatcheck mint: 1001 of 1001 refused.\n");
  }

  @Test
  void aBadItemIsNamedAndHarmsNoOther() {
    Terminal minted = runWith("77\nseven\n78\n", "mint", "charge");

    assertThat(minted.status()).isEqualTo(1);
    assertThat(keys(minted)).containsExactly("77", "78");
    assertThat(minted.err())
        .startsWith("seven: key_malformed. ")
        .endsWith("coatcheck mint: 1 of 3 refused.\n");
    assertThat(run("lookup", "charge", "999999999").err()).startsWith("999999999: key_unknown. ");
    assertThat(run("resolve", "ch_1").err()).startsWith("ch_1: public_id_malformed. ");
    assertThat(run("mint", "nothing", "1").err()).startsWith("1: type_unknown. ");
  }

  @Test
  void aHealthCheckEndsInTimeAlsoIfTheAnswerStopsHalfway() throws Exception {
    try (FaultyProxy proxy = new FaultyProxy(GATEWAY.uri())) {
      String port = "--port=" + proxy.uri().getPort();
      proxy.next(FaultyProxy.Fault.HALF_ANSWER);
      Terminal check = Terminal.run("health", port);
      assertThat(check.status()).isEqualTo(1);
      assertThat(check.err()).contains("no gateway answers at http://127.0.0.1");
      assertThat(Terminal.run("health", port).status()).isZero();
    }
  }

  @Test
  void aGatewayThatCantBeCalledIsSaidInOneLine() throws Exception {
    assertFails("no gateway answers at http://127.0.0.1:1", "--url=http://127.0.0.1:1");
    assertFails("no gateway answers", "--url=http://no-such-host.invalid");
    assertMisused(
        "the gateway must look like http://127.0.0.1:8080, not nonsense. It comes from --url,",
        "--url=nonsense");
    assertMisused("the gateway must look like", "--url=http://a b");
    assertMisused("the gateway must look like", "--url=ftp://127.0.0.1");
    assertMisused(
        "holds no API key", "--key-file=" + Files.writeString(folder.resolve("two"), "a\nb"));
    assertMisused(
        "holds no API key", "--key-file=" + Files.writeString(folder.resolve("none"), "\n"));
    assertMisused("can't read the API key from /no/file", "--key-file=/no/file");
    Path junk = Files.writeString(folder.resolve("junk"), "x");
    assertFails("(unauthenticated)", "--key-file=" + junk);
    assertFails("doesn't accept the API key in the file " + junk, "--key-file=" + junk);
  }

  @Test
  void somethingElseOnThePortIsSaidInOneLine() throws Exception {
    HttpServer other =
        HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 1);
    String[] says = {""};
    int[] status = {200};
    other.createContext(
        "/",
        exchange -> {
          byte[] page = says[0].getBytes(StandardCharsets.US_ASCII);
          exchange.sendResponseHeaders(status[0], page.length);
          try (OutputStream body = exchange.getResponseBody()) {
            body.write(page);
          }
        });
    other.start();
    try {
      for (String page : List.of("<html>", "{}")) {
        says[0] = page;
        assertFails(
            "is not a Coatcheck gateway (status 200). Check --url.",
            "--url=http://127.0.0.1:" + other.getAddress().getPort() + "/");
      }
      status[0] = 502;
      assertFails(
          "answered 502, so the gateway behind it doesn't answer now",
          "--url=http://127.0.0.1:" + other.getAddress().getPort() + "/");
      status[0] = 413;
      assertFails(
          "answered 413: it limits the length of a body. Let it pass bodies of 8 MiB",
          "--url=http://127.0.0.1:" + other.getAddress().getPort() + "/");
    } finally {
      other.stop(0);
    }
  }

  @Test
  void aReaderThatGoesAwayEndsTheVerb() throws Exception {
    Path input = folder.resolve("many");
    Files.write(input, IntStream.range(0, 100_000).mapToObj(Integer::toString).toList());
    Process mint = child("mint", "charge").redirectInput(input.toFile()).start();

    try (BufferedReader out = mint.inputReader()) {
      assertThat(out.readLine()).startsWith("ch_");
    }

    try (BufferedReader err = mint.errorReader()) {
      assertThat(err.readLine()).isNull();
    }
    assertThat(mint.waitFor()).isEqualTo(141);
    assertThat(run("lookup", "charge", "99999").status()).isEqualTo(1);
  }

  @Test
  void inputThatCantBeReadIsSaidInOneLine() throws Exception {
    List<String> command = new ArrayList<>(List.of("sh", "-c", "exec \"$@\" < .", "sh"));
    command.addAll(child("mint", "charge").command());
    Process mint = new ProcessBuilder(command).start();

    try (BufferedReader err = mint.errorReader()) {
      assertThat(err.lines()).singleElement().asString().contains("can't read standard input");
    }
    assertThat(mint.waitFor()).isEqualTo(1);
  }

  private static ProcessBuilder child(String... arguments) {
    return TestJvm.running(Main.class, AtGateway.arguments(arguments))
        .redirectError(ProcessBuilder.Redirect.PIPE);
  }

  private static void assertFails(String reason, String option) throws IOException {
    assertEnds(1, reason, option);
  }

  private static void assertMisused(String reason, String option) throws IOException {
    assertEnds(2, reason, option);
  }

  private static void assertEnds(int status, String reason, String option) throws IOException {
    Terminal failed = run("mint", "charge", "1", option);
    assertThat(failed.status()).isEqualTo(status);
    assertThat(failed.out()).isEmpty();
    assertThat(failed.err().lines())
        .singleElement()
        .asString()
        .startsWith("coatcheck mint: ")
        .contains(reason);
  }

  private static void assertRefused(String code, Terminal call) {
    assertThat(call.status()).isEqualTo(1);
    assertThat(call.err().lines()).singleElement().asString().contains("(" + code + ")");
  }

  private static List<String> ids(Terminal minted) {
    return minted.lines().stream().map(line -> line.substring(0, line.indexOf(','))).toList();
  }

  private static List<String> keys(Terminal minted) {
    return minted.lines().stream().map(line -> line.substring(line.lastIndexOf(',') + 1)).toList();
  }

  private static String[] join(String verb, List<String> arguments) {
    return Stream.concat(Stream.of(verb), arguments.stream()).toArray(String[]::new);
  }
}
