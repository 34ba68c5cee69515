package dev.coatcheck.app.cli;

import static dev.coatcheck.app.cli.AtGateway.run;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.hashids.Hashids;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.sqids.Sqids;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code find} says what a text is, whatever it is. */
class FindVerbTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final JsonMapper JSON = new JsonMapper();
  private static final String SALT = "this is my salt";
  private static final String UUID = "01890a5d-ac96-774b-bcce-b302099a8057";
  private static final String TYPEID = "user_01h455vb4pex5vsknk084sn02q";
  private static final String CLIENT_ID = "0b0fdb0d-6d9a-4b57-9c76-4b1d6e4f2a10";

  private static TestClient client;
  private static String order;
  private static String user;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    put("order", "--prefix=ord", "--redirect=https://shop.example/{id}", "--legacy");
    put(
        "invoice",
        "--prefix=inv",
        "--legacy",
        "--public-scheme=hashids",
        "--public-salt-file=" + TestDatabase.fileWith(SALT),
        "--public-min-length=8",
        "--public-text-prefix=inv-");
    put("ticket", "--prefix=tkt", "--public-scheme=sqids", "--public-text-prefix=tkt-");
    put(
        "user",
        "--prefix=usr",
        "--key=uuid",
        "--redirect=https://shop.example/u/{id}",
        "--redirect-private",
        "--public-scheme=typeid",
        "--public-type-name=user");
    order =
        client
            .mint(
                "order",
                "key",
                "900001",
                "legacy_id",
                "4711",
                "client_id",
                CLIENT_ID,
                "client_namespace",
                "channel-42")
            .text("/id");
    client.mint("invoice", "key", "900002", "legacy_id", "7");
    client.mint("ticket", "key", "900003", "legacy_id", "8");
    user = client.mint("user", "key", UUID).text("/id");
  }

  private static void put(String name, String... flags) {
    List<String> words = new ArrayList<>(List.of("types", "put", name));
    words.addAll(List.of(flags));
    Terminal put = run(words.toArray(String[]::new));
    assertThat(put.status()).as(put.err()).isZero();
  }

  /** The only thing that the text is, or the thing of that kind. */
  private static JsonNode found(String what, String... arguments) {
    List<String> words = new ArrayList<>(List.of("find", "--json"));
    words.addAll(List.of(arguments));
    Terminal found = run(words.toArray(String[]::new));
    assertThat(found.status()).as(found.err()).isZero();
    return found.lines().stream()
        .map(JSON::readTree)
        .filter(one -> one.path("what").asString().equals(what))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + what + ": " + found.out()));
  }

  private static void assertOrder(JsonNode found) {
    assertThat(found.path("type").asString()).isEqualTo("order");
    assertThat(found.path("id").asString()).isEqualTo(order);
    assertThat(found.path("key").asString()).isEqualTo("900001");
    assertThat(found.path("status").asString()).isEqualTo("active");
    assertThat(found.path("link").asString()).isEqualTo("https://shop.example/" + order);
    assertThat(found.path("aliases").valueStream().map(JsonNode::asString))
        .containsExactlyInAnyOrder("legacy:4711", "client:" + CLIENT_ID + "@channel-42");
  }

  @Test
  void aPublicIdHasItsTypeKeyLinkAndAliases() {
    assertOrder(found("public_id", order));
    assertThat(run("find", order).lines())
        .contains(
            "what,public_id", "type,order", "key,900001", "link,https://shop.example/" + order)
        .anyMatch(line -> line.startsWith("aliases,") && line.contains("legacy:4711"));
  }

  @Test
  void aPrivateLinkIsNotShown() {
    JsonNode found = found("public_id", user);

    assertThat(found.path("key").asString()).isEqualTo(UUID);
    assertThat(found.has("link")).isFalse();
  }

  @Test
  void aKeyIsFoundInItsTypes() {
    assertOrder(found("key", "900001"));
    assertThat(found("key", UUID).path("id").asString()).isEqualTo(user);
  }

  @Test
  void aLegacyIdIsFound() {
    assertOrder(found("legacy_id", "4711"));
  }

  @Test
  void aNumberCanBeSeveralThings() {
    client.mint("invoice", "key", "4711");

    Terminal found = run("find", "4711");

    assertThat(found.lines())
        .contains("what,legacy_id", "what,key", "type,order", "type,invoice", "");
  }

  @Test
  void aClientIdIsFoundInItsNamespace() {
    assertOrder(found("client_id", CLIENT_ID, "--client-namespace=channel-42"));
    assertThat(run("find", CLIENT_ID, "--json").out()).doesNotContain("client_id");
  }

  @Test
  void anOlderPublicIdIsFoundByHashids() {
    JsonNode found = found("older_public_id", "inv-" + new Hashids(SALT, 8).encode(7));

    assertThat(found.path("type").asString()).isEqualTo("invoice");
    assertThat(found.path("key").asString()).isEqualTo("900002");
  }

  @Test
  void anOlderPublicIdIsFoundBySqids() {
    JsonNode found = found("older_public_id", "tkt-" + Sqids.builder().build().encode(List.of(8L)));

    assertThat(found.path("key").asString()).isEqualTo("900003");
  }

  @Test
  void anOlderPublicIdIsFoundByTypeId() {
    assertThat(found("older_public_id", TYPEID).path("id").asString()).isEqualTo(user);
  }

  @Test
  void aTextThatBeginsWithAHyphenComesAfterTwo() {
    String older = "-abcdefabcde";
    client.put(
        TestType.of("photo", "pho")
            .with("public_pattern", TestType.pattern("", "-abcdef", 12, 12)));
    String id = client.mint("photo").text("/id");
    client.send("PUT", "/v1/ids/" + id + "/aliases/public/" + older, null);

    assertThat(found("older_public_id", "--", older).path("id").asString()).isEqualTo(id);
    assertThat(run("find", older).status()).isEqualTo(2);
  }

  @Test
  void aForeignIdHasTheFormatsThatItCanHave() {
    JsonNode found = found("foreign_id", "01ARZ3NDEKTSV4RRFFQ69G5FAV");

    assertThat(found.path("format").asString()).isEqualTo("ulid");
    assertThat(found.path("time").asString()).startsWith("2016-07-30T23:54:10");
    assertThat(run("find", "01ARZ3NDEKTSV4RRFFQ69G5FAV").lines())
        .contains("what,foreign_id", "format,ulid");
  }

  @Test
  void aRevokedPublicIdSaysWhenAndWhy() {
    String id = client.mint("order", "key", "900010", "legacy_id", "900011").text("/id");
    run("ids", "revoke", id, "--reason=leaked");

    for (JsonNode found :
        List.of(found("public_id", id), found("key", "900010"), found("legacy_id", "900011"))) {
      assertThat(found.path("type").asString()).isEqualTo("order");
      assertThat(found.path("status").asString()).isEqualTo("revoked");
      assertThat(found.path("ended_at").asString()).startsWith("2");
      assertThat(found.path("ended_reason").asString()).isEqualTo("leaked");
      assertThat(found.has("link")).isFalse();
    }
  }

  @Test
  void aMergedPublicIdNamesItsSurvivor() {
    String ended = client.mint("order", "key", "900020").text("/id");
    run("ids", "merge", ended, "--into=" + order);

    JsonNode found = found("public_id", ended);

    assertThat(found.path("status").asString()).isEqualTo("merged");
    assertThat(found.path("merged_into").asString()).isEqualTo(order);
    assertThat(found.path("key").asString()).isEqualTo("900001");
    assertThat(found.path("link").asString()).isEqualTo("https://shop.example/" + order);
    assertThat(found("key", "900020").path("merged_into").asString()).isEqualTo(order);
  }

  @Test
  void nothingIsKnownAboutSomeTexts() {
    Terminal unknown = run("find", "what is this?");

    assertThat(unknown)
        .isEqualTo(new Terminal(1, "", "coatcheck find: nothing is known about this text.\n"));
    Path file = TestDatabase.fileWith("--url=http://elsewhere.example 4711");
    assertThat(run("find", "@" + file).status())
        .as("no file of arguments")
        .isEqualTo(unknown.status());
    assertThat(run("find", "a/b").err())
        .contains("An argument ")
        .doesNotContain("path,", "path.", "The path");
  }

  @Test
  void theAliasesOfAPublicIdAreRows() {
    assertThat(run("ids", "aliases", order).lines())
        .containsExactlyInAnyOrder("legacy,4711,,", "client," + CLIENT_ID + ",channel-42,");
    assertThat(
            run("ids", "aliases", order, "--json").lines().stream()
                .map(line -> JSON.readTree(line).path("scheme").asString()))
        .containsExactlyInAnyOrder("legacy", "client");
    assertThat(run("ids", "aliases", "ord_1").err())
        .startsWith("coatcheck ids aliases: ")
        .contains("(public_id_malformed)");
  }
}
