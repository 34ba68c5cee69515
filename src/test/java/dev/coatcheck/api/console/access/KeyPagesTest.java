package dev.coatcheck.api.console.access;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.console.ConsoleClient.Page;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What people do with API keys in the console. */
class KeyPagesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final String NEW = "/console/keys/new";
  private static final Pattern SECRET = Pattern.compile("ccg_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}");
  private static final Pattern ONCE = Pattern.compile("name=\"once\" value=\"([^\"]+)\"");
  private static final String CANARY = "<script>alert(1)</script>";

  private static TestClient client;
  private static ConsoleClient browser;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    client.put(TestType.of("order", "ord"));
    client.put(TestType.of("parcel", "par"));
    browser = ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
  }

  /** The fields of a form, with the hidden ones of its page. */
  private static Map<String, String> form(ConsoleClient by, String... fields) {
    Page page = by.get(NEW);
    Map<String, String> form = new TreeMap<>(Map.of("form_token", page.formToken()));
    form.put("once", found(ONCE, page.html(), 1));
    for (int i = 0; i < fields.length; i += 2) {
      form.put(fields[i], fields[i + 1]);
    }
    return form;
  }

  private static String found(Pattern pattern, String html, int group) {
    Matcher found = pattern.matcher(html);
    assertThat(found.find()).as(html).isTrue();
    return found.group(group);
  }

  private static Page create(ConsoleClient by, String... fields) {
    return by.post(NEW, form(by, fields));
  }

  /** Creates a key over the API. */
  private static TestClient.Reply created(Object... fields) {
    TestClient.Reply made = client.post("/v1/access/keys", json(fields));
    assertThat(made.status()).as("%s", made.body()).isEqualTo(201);
    return made;
  }

  private static String path(TestClient.Reply key) {
    return "/console/keys/" + key.text("/id");
  }

  private static long named(String name) {
    return GATEWAY.count(
        "select count(*) from coatcheck.api_key where name = '%s'".formatted(name));
  }

  @Test
  void aNewKeyHasAllItsFieldsAndIsShownOnce() {
    Page made =
        create(
            browser,
            "name",
            "edge-1",
            "scope ids:read",
            "on",
            "scope ids:write",
            "on",
            "types",
            "order, parcel",
            "ranges",
            "127.0.0.0/8 ::1",
            "requests",
            "500",
            "seconds",
            "10",
            "expires_at",
            "2999-01-31");

    assertThat(made.status()).as(made.html()).isEqualTo(201);
    assertThat(made.header("cache-control")).contains("no-store");
    assertThat(made.html())
        .as("no other theme without the secret")
        .doesNotContain("/console/theme");
    String secret = found(SECRET, made.html(), 0);
    TestClient.Reply self = new TestClient(GATEWAY.uri(), secret).get("/v1/access/self");
    assertThat(self.body().toString())
        .contains(
            "\"name\":\"edge-1\"",
            "\"scopes\":[\"ids:read\",\"ids:write\"]",
            "\"types\":[\"order\",\"parcel\"]",
            "\"requests\":500",
            "\"seconds\":10",
            "\"expires_at\":\"2999-01-31T00:00:00Z\"");
    String id = self.text("/id");
    for (String page : List.of("/console/keys", "/console/keys/" + id, NEW, "/console/audit")) {
      assertThat(browser.get(page).html()).doesNotContain(secret.substring(22));
    }
    assertThat(browser.get("/console/keys/" + id).html())
        .contains("edge-1", "<code>ids:write</code>", "<code>order</code>", "500 requests in 10 s")
        .contains("<code>key.create</code>", "127.0.0.0/8");
  }

  @Test
  void aFormThatIsSentTwiceMakesOneKey() {
    Map<String, String> form = form(browser, "name", "twice", "scope ids:read", "on");

    List<CompletableFuture<Page>> sent =
        Stream.generate(
                () ->
                    CompletableFuture.supplyAsync(
                        () -> browser.post(NEW, form), Thread::startVirtualThread))
            .limit(3)
            .toList();
    List<Page> answers = sent.stream().map(CompletableFuture::join).toList();

    assertThat(answers).extracting(Page::status).containsExactlyInAnyOrder(201, 303, 303);
    assertThat(named("twice")).isEqualTo(1);
    Page again = browser.post(NEW, form);
    assertThat(again.location()).matches("/console/keys/key_[0-9A-Za-z]{12}");
    assertThat(again.html()).doesNotContain("ccg_live_");
    assertThat(browser.get(again.location()).html()).contains("twice").doesNotContain("ccg_live_");
  }

  @Test
  void formsOfTwoPagesOrSessionsMakeTwoKeys() {
    Map<String, String> form = form(browser, "name", "two", "scope ids:read", "on");
    ConsoleClient other = ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
    Map<String, String> copied = new TreeMap<>(form);
    copied.put("form_token", other.get(NEW).formToken());

    assertThat(browser.post(NEW, form).status()).isEqualTo(201);
    assertThat(other.post(NEW, copied).status()).isEqualTo(201);
    assertThat(create(browser, "name", "two", "scope ids:read", "on").status()).isEqualTo(201);
    assertThat(named("two")).isEqualTo(3);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ranges     | 10.1.2.3/8   | Addresses: Send an address
          types      | nothing      | Types:
          requests   | 5            | Seconds: This field is required
          requests   | many         | Requests: This must be an integer
          expires_at | tomorrow     | Expires: Send a time
          expires_at | 2001-01-01   | Expires: This time has passed
          name       | ''           | Name: Send 1 to 100 characters
          once       | x            | Send the form of this page
          """)
  void aWrongFieldIsNamedAsTheFormNamesIt(String field, String value, String fault) {
    Map<String, String> form = form(browser, "name", "wrong", "scope ids:read", "on");
    form.put(field, value);

    Page refused = browser.post(NEW, form);

    assertThat(refused.status()).as(refused.html()).isBetween(400, 422);
    assertThat(refused.html()).contains(fault, "name=\"scope ids:read\" value=\"on\" checked");
    assertThat(named("wrong")).isZero();
  }

  @Test
  void aKeyNeedsAScope() {
    assertThat(create(browser, "name", "none").html()).contains("Scopes: tick at least one");
  }

  @Test
  void nobodyGivesOrGainsWhatTheOwnKeyLacks() {
    ConsoleClient admin = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.ACCESS_ADMIN));
    TestClient.Reply root = created("name", "root", "scopes", List.of("*"));

    Page given = create(admin, "name", "greedy", "scope *", "on");
    assertThat(given.status()).isEqualTo(403);
    assertThat(given.html()).contains("Scopes: Your API key must have every right of the key");
    Page edited = admin.submit(path(root) + "/edit", edit(admin, root, "name", "mine"));
    assertThat(edited.status()).isEqualTo(403);
    Page rotated = admin.submit(path(root) + "/rotate", Map.of("overlap", "0"));
    assertThat(rotated.status()).isEqualTo(403);
    assertThat(rotated.html()).doesNotContain("ccg_live_");

    assertThat(named("greedy")).isZero();
    assertThat(client.get("/v1/access/keys/" + root.text("/id")).header("etag")).isEqualTo("\"1\"");
  }

  /** The fields of a key's form, with one changed. */
  private static Map<String, String> edit(
      ConsoleClient by, TestClient.Reply key, String field, String value) {
    String html = by.get(path(key) + "/edit").html();
    Map<String, String> fields = new TreeMap<>();
    Matcher inputs =
        Pattern.compile("<input[^>]*? name=\"([^\"]+)\"[^>]*? value=\"([^\"]*)\"([^>]*)>")
            .matcher(html.substring(html.indexOf("<main")));
    while (inputs.find()) {
      boolean isBox = inputs.group(1).startsWith("scope ");
      if (!isBox || inputs.group(3).contains("checked")) {
        fields.put(inputs.group(1), inputs.group(2));
      }
    }
    fields.remove("next");
    fields.remove("theme");
    fields.put(field, value);
    return fields;
  }

  @Test
  void anEditChangesWhatItSaysAndNothingElse() {
    TestClient.Reply key =
        created(
            "name", "edited",
            "scopes", List.of("ids:read"),
            "types", List.of("order"),
            "ranges", List.of("10.0.0.0/8"),
            "limit", Map.of("requests", 7, "seconds", 3),
            "expires_at", "2999-01-01T00:00:00Z");
    GATEWAY.execute(
        "update coatcheck.api_key set scopes = '{ids:read,later:scope}' where key_id = '%s'"
            .formatted(key.text("/id").substring(4)));

    Page done = browser.submit(path(key) + "/edit", edit(browser, key, "name", "renamed"));

    assertThat(done.status()).as(done.html()).isEqualTo(303);
    assertThat(client.get("/v1/access/keys/" + key.text("/id")).body().toString())
        .contains(
            "\"name\":\"renamed\"",
            "\"scopes\":[\"ids:read\",\"later:scope\"]",
            "\"types\":[\"order\"]",
            "\"ranges\":[\"10.0.0.0/8\"]",
            "\"requests\":7",
            "\"expires_at\":\"2999-01-01T00:00:00Z\"");
  }

  @Test
  void halfARateLimitIsRefused() {
    TestClient.Reply key =
        created(
            "name",
            "halved",
            "scopes",
            List.of("ids:read"),
            "limit",
            Map.of("requests", 1_000, "seconds", 1));
    Map<String, String> fields = edit(browser, key, "requests", "5");
    fields.put("seconds", "");

    Page refused = browser.submit(path(key) + "/edit", fields);

    assertThat(refused.html()).contains("Seconds: This field is required");
    assertThat(client.get("/v1/access/keys/" + key.text("/id")).body().toString())
        .contains("\"requests\":1000");
  }

  @Test
  void anEditOfAKeyThatHasChangedIsRefused() {
    TestClient.Reply key = created("name", "raced", "scopes", List.of("ids:read"));
    Map<String, String> stale = edit(browser, key, "name", "late");
    client
        .with("Content-Type", "application/merge-patch+json")
        .patch("/v1/access/keys/" + key.text("/id"), json("name", "early"));

    Page refused = browser.submit(path(key) + "/edit", stale);

    assertThat(refused.status()).isEqualTo(412);
    assertThat(refused.html()).contains("The API key has changed", "value=\"late\"");
    assertThat(named("late")).isZero();

    stale.put(
        "version", found(Pattern.compile("name=\"version\" value=\"(\\d+)"), refused.html(), 1));
    assertThat(browser.submit(path(key) + "/edit", stale).status()).isEqualTo(303);
    assertThat(named("late")).isEqualTo(1);
  }

  @Test
  void aRotationShowsTheSuccessorOnce() {
    TestClient.Reply old = created("name", "rotated", "scopes", List.of("ids:read"));

    Page made = browser.submit(path(old) + "/rotate", Map.of("overlap", "3600"));
    assertThat(made.status()).as(made.html()).isEqualTo(201);
    String secret = found(SECRET, made.html(), 0);
    Page again = browser.submit(path(old) + "/rotate", Map.of("overlap", "3600"));

    assertThat(again.status()).isEqualTo(409);
    assertThat(again.html()).contains("was rotated before").doesNotContain("ccg_live_");
    assertThat(named("rotated")).isEqualTo(2);
    for (String text : List.of(secret, old.text("/secret"))) {
      assertThat(new TestClient(GATEWAY.uri(), text).get("/v1/access/self").status())
          .isEqualTo(200);
    }
    assertThat(browser.get(path(old)).html())
        .contains("Successor", "key_" + secret.substring(9, 21));
  }

  @Test
  void anOutageSaysWhetherTheFormMayHaveDoneSomething() throws Exception {
    TestClient.Reply key = created("name", "doubtful", "scopes", List.of("ids:read"));
    Map<String, String> form = new TreeMap<>(Map.of("overlap", "3600"));
    form.put("form_token", browser.get(path(key) + "/rotate").formToken());

    try (TestSession other = GATEWAY.sql().session()) {
      other.begin("lock table coatcheck.api_key in share mode"); // it may be read
      Awaitility.await() // a busy machine may be too late even for the session
          .until(() -> refused(key, form), page -> page.contains("rotated or not"));
      other.rollback();
      other.begin("lock table coatcheck.api_key_use in access exclusive mode");
      Awaitility.await()
          .until(() -> refused(key, form), page -> page.contains("nothing was changed"));
      other.rollback();
    }
    assertThat(named("doubtful")).isEqualTo(1);
  }

  private static String refused(TestClient.Reply key, Map<String, String> form) {
    Page page = browser.postOnce(path(key) + "/rotate", form);
    assertThat(page.status()).as(page.html()).isEqualTo(503);
    return page.html();
  }

  @Test
  void aRevocationEndsTheKeyAndItsSessions() {
    TestClient.Reply key = created("name", "ended", "scopes", List.of("ids:read"));
    ConsoleClient holder = ConsoleClient.signedIn(GATEWAY, key.text("/secret"));
    assertThat(browser.get(path(key) + "/revoke").html())
        .contains("Within 2 seconds", "Successors that it made")
        .doesNotContain("You are signed in with this key");

    Page done = browser.submit(path(key) + "/revoke", Map.of());

    assertThat(done.location()).isEqualTo(path(key));
    assertThat(browser.get(path(key)).html()).contains(">revoked</b>", "<code>key.revoke</code>");
    Awaitility.await().until(() -> holder.get("/console").status() == 303);
  }

  @Test
  void whoRevokesTheOwnKeyIsWarnedAndLandsOnTheSignIn() {
    String key = GATEWAY.keyWith(Scope.ACCESS_ADMIN);
    ConsoleClient own = ConsoleClient.signedIn(GATEWAY, key);
    String path = "/console/keys/key_" + key.substring(9, 21);
    assertThat(own.get(path + "/revoke").html()).contains("You are signed in with this key");

    Page done = own.submit(path + "/revoke", Map.of());

    assertThat(done.location()).isEqualTo("/console/sign-in");
    assertThat(own.cookie()).isEmpty();
    assertThat(own.get("/console/keys").status()).isEqualTo(303);
  }

  @Test
  void aKeyForSomeTypesSeesNoKeysForOthers() {
    ConsoleClient limited = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.ALL, "order"));
    TestClient.Reply ours =
        created("name", "ours", "scopes", List.of("ids:read"), "types", List.of("order"));
    TestClient.Reply theirs =
        created("name", "theirs", "scopes", List.of("ids:read"), "types", List.of("parcel"));

    assertThat(limited.get("/console/keys").html()).contains(">ours<").doesNotContain(">theirs<");
    assertThat(limited.get(path(ours)).html()).contains("ours").doesNotContain("<h2>History");
    for (String page : List.of("", "/edit", "/rotate", "/revoke")) {
      assertThat(limited.get(path(theirs) + page).status()).as(page).isEqualTo(403);
    }
    String token = limited.get("/console").formToken();
    assertThat(limited.post(path(theirs) + "/revoke", Map.of("form_token", token)).status())
        .isEqualTo(403);
    assertThat(client.get("/v1/access/keys/" + theirs.text("/id")).text("/status"))
        .isEqualTo("active");
  }

  @Test
  void withoutTheScopeNothingIsOfferedOrDone() {
    ConsoleClient reader = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.IDS_READ));
    TestClient.Reply key = created("name", "kept", "scopes", List.of("ids:read"));
    String token = reader.get("/console").formToken();
    assertThat(reader.get("/console").links()).doesNotContain("/console/keys", "/console/audit");

    for (String page :
        List.of("/console/keys", NEW, path(key), path(key) + "/edit", path(key) + "/rotate")) {
      assertThat(reader.get(page).status()).as(page).isEqualTo(403);
    }
    for (String page : List.of(NEW, path(key) + "/edit", path(key) + "/revoke")) {
      assertThat(reader.post(page, Map.of("form_token", token)).status()).as(page).isEqualTo(403);
    }
    assertThat(client.get("/v1/access/keys/" + key.text("/id")).text("/status"))
        .isEqualTo("active");
  }

  @Test
  void theListIsFilteredAndContinued() {
    for (int i = 0; i < 51; i++) {
      created("name", "many-" + i, "principal", "many", "scopes", List.of("ids:read"));
    }

    Page first = browser.get("/console/keys?principal=many&status=active");
    String next =
        first.links().stream().filter(link -> link.contains("after=")).findFirst().orElseThrow();
    Page second = browser.get(next.replace("&amp;", "&"));

    assertThat(first.html()).contains(">many-0<").doesNotContain(">many-50<");
    assertThat(second.html()).contains(">many-50<").doesNotContain(">many-0<");
    assertThat(browser.get("/console/keys?principal=many&status=revoked").html())
        .contains("No API key fits");
    assertThat(browser.get("/console/keys?status=odd").status()).isEqualTo(400);
    assertThat(browser.get("/console/keys?after=key_1").status()).isEqualTo(400);
  }

  @Test
  void whatCallersWroteIsText() {
    TestClient.Reply key =
        created("name", CANARY, "principal", CANARY + "2", "scopes", List.of("ids:read"));

    for (String page :
        List.of(
            "/console/keys?principal=" + ConsoleClient.encoded(CANARY + "2"),
            path(key),
            path(key) + "/edit",
            path(key) + "/rotate",
            path(key) + "/revoke")) {
      assertThat(browser.get(page).html())
          .as(page)
          .contains("&lt;script&gt;alert(1)")
          .doesNotContain(CANARY);
    }
    assertThat(create(browser, "name", CANARY, "types", CANARY).html()).doesNotContain(CANARY);
    Page rotated = browser.submit(path(key) + "/rotate", Map.of("overlap", "0"));
    assertThat(rotated.status()).isEqualTo(201);
    assertThat(rotated.html()).doesNotContain(CANARY);
  }
}
