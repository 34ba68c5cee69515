package dev.coatcheck.api.console.migrations;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.console.ConsoleClient.Page;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.api.routes.migrations.Runs;
import dev.coatcheck.ids.access.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What people do to table migrations in the console, and what is refused. */
class MigrationActionPagesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.own();

  private static final String NEW = "/console/migrations/new";
  private static final TestClient API = GATEWAY.client();
  private static final Runs RUNS = Runs.of(GATEWAY);
  private static final AtomicInteger TABLES = new AtomicInteger();
  private static ConsoleClient browser;

  @BeforeAll
  static void signIn() {
    browser = ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
  }

  /** A planned run of a table of its own. */
  private record Planned(String id, String table) {
    static Planned of(int rows) {
      String name = "wares" + TABLES.incrementAndGet();
      RUNS.table(name, rows);
      return new Planned(RUNS.plan(name).text("/id"), name);
    }

    /** The same in a state that no runner carries on. */
    Planned in(String state, String goal, boolean occupies) {
      GATEWAY.execute(
          """
          update coatcheck.table_migration set state = '%s', goal = '%s', occupies = %s
           where migration_id = %s\
          """
              .formatted(state, goal, occupies, id));
      return this;
    }

    /** The same with its new keys as the primary key, as far as its steps say. */
    Planned switched() {
      GATEWAY.execute(
          """
          update coatcheck.table_migration_step set state = 'verified'
           where migration_id = %s and phase <> 'contract'\
          """
              .formatted(id));
      return in("done", "switch", true);
    }

    String page(String action) {
      return "/console/migrations/" + id + "/" + action;
    }

    String api() {
      return Runs.PATH + "/" + id;
    }

    String name() {
      return "public." + table;
    }

    Reply now() {
      return API.get(api());
    }

    String state() {
      return now().text("/state");
    }

    List<String> events() {
      return API.get(api() + "/events").body().at("/data").findValuesAsString("kind");
    }
  }

  private static void requireDone(Page page, Planned run) {
    assertThat(page.status()).as(page.html()).isEqualTo(303);
    assertThat(page.location()).isEqualTo("/console/migrations/" + run.id());
  }

  private static long audited(String id) {
    return GATEWAY.count(
        "select count(*) from coatcheck.audit_entry where action like 'table_migration.%' and '"
            + id
            + "' = any (subjects)");
  }

  @Test
  void aTableIsPlannedWithEveryOptionOfTheApi() {
    RUNS.type("invoice");
    GATEWAY.execute(
        "create table public.invoice (id bigserial primary key, made timestamptz not null)");
    Page form = browser.get(NEW);
    assertThat(form.html())
        .contains("<option value=\"gateway\" selected>", "<option value=\"invoice\"");

    Page done =
        browser.submit(
            NEW,
            Map.of(
                "source", "gateway",
                "table", "invoice",
                "type", "invoice",
                "created_at_column", "made",
                "application_search_path", "public, pg_temp",
                "keep_primary_key", "yes"));

    assertThat(done.status()).as(done.html()).isEqualTo(303);
    String id = done.location().replace("/console/migrations/", "");
    Reply run = API.get(Runs.PATH + "/" + id);
    assertThat(run.text("/state")).isEqualTo("planned");
    assertThat(run.text("/type")).isEqualTo("invoice");
    assertThat(run.text("/created_at_column")).isEqualTo("made");
    assertThat(run.text("/application_search_path")).contains("pg_temp");
    assertThat(run.body().at("/keep_primary_key").booleanValue()).isTrue();
    assertThat(audited(id)).isEqualTo(1);
  }

  @Test
  void aRefusedPlanComesBackInTheFormWithEveryReason() {
    RUNS.type("nokey");
    GATEWAY.execute("create table public.nokey (name text)");

    Page refused = browser.submit(NEW, Map.of("table", "nokey", "type", "nokey"));

    Reply same = API.post(Runs.PATH, json("table", "nokey", "type", "nokey"));
    assertThat(refused.status()).isEqualTo(same.status()).isEqualTo(422);
    assertThat(refused.html()).contains("value=\"nokey\"", "Plan a table migration");
    assertThat(same.body().at("/refusals")).isNotEmpty();
    same.body()
        .at("/refusals")
        .findValuesAsString("code")
        .forEach(code -> assertThat(refused.html()).contains("<code>" + code + "</code>"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a\"b", "a."})
  void aTableThatIsNoNameIsRefused(String table) {
    RUNS.type("names");
    assertThat(browser.submit(NEW, Map.of("table", table, "type", "names")).html())
        .contains("table_malformed");
  }

  @Test
  void aWrongSourcePathOrTypeIsRefused() {
    RUNS.type("names");
    Map<String, String> form = Map.of("table", "names", "type", "names");
    assertThat(browser.submit(NEW, and(form, "source", "nowhere")).status()).isEqualTo(404);
    assertThat(browser.submit(NEW, and(form, "application_search_path", "a,,b")).html())
        .contains("as SHOW search_path prints it");
    assertThat(browser.submit(NEW, and(form, "type", "nothing")).status()).isEqualTo(404);
  }

  private static Map<String, String> and(Map<String, String> form, String name, String value) {
    Map<String, String> more = new TreeMap<>(form);
    more.put(name, value);
    return more;
  }

  @Test
  void aStartAsksForEachPreconditionWithABox() {
    Planned run = Planned.of(3);
    Page page = browser.get(run.page("start"));
    assertThat(page.html())
        .contains("ACCESS EXCLUSIVE for an instant", "name=\"accept.keys_as_strings\"")
        .contains("coatcheck migrate-table start " + run.id() + " --accept keys_as_strings");
    List<String> codes = run.now().body().at("/plan/preconditions").findValuesAsString("code");
    Map<String, String> all = new TreeMap<>();
    codes.forEach(code -> all.put("accept." + code, "yes"));

    Page refused = browser.submit(run.page("start"), Map.of());
    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.html()).contains("tick its box", "<code>keys_as_strings</code>");
    assertThat(run.state()).isEqualTo("planned");

    assertThat(browser.submit(run.page("start"), Map.of("accept.keys_as_strings", "yes")).html())
        .contains("name=\"accept.keys_as_strings\" value=\"yes\" required checked");

    requireDone(browser.submit(run.page("start"), all), run);
    Reply done = RUNS.await(run.api(), "done");
    assertThat(done.body().at("/accepted").toString()).contains(codes);
    assertThat(audited(run.id())).isEqualTo(2);
  }

  @Test
  void aRunIsPausedThrottledResumedUndoneAndForgotten() {
    Planned run = Planned.of(3_000);
    requireDone(browser.submit(run.page("throttle"), Map.of("rows_per_second_max", "10")), run);
    RUNS.start(run.api());
    Awaitility.await().until(() -> run.now().body().at("/progress/rows_done").longValue() > 0);

    String token = browser.get("/console").formToken();
    for (int click = 0; click < 2; click++) {
      requireDone(browser.post(run.page("pause"), Map.of("form_token", token)), run);
    }
    assertThat(run.state()).isEqualTo("paused");
    for (int click = 0; click < 2; click++) {
      requireDone(browser.post(run.page("resume"), Map.of("form_token", token)), run);
    }
    assertThat(run.state()).isEqualTo("running");
    assertThat(run.events().stream().filter(List.of("pause", "resume")::contains)).hasSize(2);

    requireDone(browser.submit(run.page("undo"), Map.of("phase", "expand")), run);
    // An undo keeps to the rate, too, which can be changed while it works.
    requireDone(browser.submit(run.page("throttle"), Map.of("rows_per_second_max", "0")), run);
    RUNS.await(run.api(), "cancelled");
    assertThat(browser.submit(run.page("forget"), Map.of("confirm", "other")).status())
        .isEqualTo(400);
    assertThat(run.events()).doesNotContain("forget");
    requireDone(browser.submit(run.page("forget"), Map.of("confirm", run.name())), run);
    assertThat(run.events()).contains("forget");
  }

  @Test
  void throttleSettingsAreFieldsWithTheirRanges() {
    Planned run = Planned.of(1);
    assertThat(browser.get(run.page("throttle")).html())
        .contains(
            "name=\"batch_millis\" type=\"number\" inputmode=\"numeric\" min=\"20\" max=\"10000\""
                + " value=\"500\"");

    requireDone(
        browser.submit(
            run.page("throttle"),
            Map.of("batch_millis", "20", "lock_waits_max", "7", "has_archive_failures", "yes")),
        run);
    Reply set = run.now();
    assertThat(set.body().at("/throttle/batch_millis").intValue()).isEqualTo(20);
    assertThat(set.body().at("/throttle/lock_waits_max").intValue()).isEqualTo(7);
    assertThat(set.body().at("/throttle/archive_failures").booleanValue()).isFalse();
    assertThat(set.body().at("/throttle/latency_millis_max").intValue()).isEqualTo(250);
    for (String wrong : List.of("19", "10001", "x", "1.5", "99999999999999999999")) {
      Page refused = browser.submit(run.page("throttle"), Map.of("batch_millis", wrong));
      assertThat(refused.status()).as(wrong).isIn(400, 422);
      assertThat(refused.html())
          .contains(
              "value=\"" + wrong + "\"", "Intended time of a batch, ms: This must be an integer");
    }
    assertThat(run.now().body().at("/throttle")).isEqualTo(set.body().at("/throttle"));
  }

  @Test
  void aFailedRunIsRetriedOrCancelledByTheNameOfItsTable() {
    Planned retried = Planned.of(2).in("failed", "forward", true);
    requireDone(browser.submit(retried.page("retry"), Map.of()), retried);
    RUNS.await(retried.api(), "done");

    Planned run = Planned.of(2).in("failed", "forward", true);
    for (String wrong : List.of("", run.table(), "public.other")) {
      Page refused = browser.submit(run.page("cancel"), Map.of("confirm", wrong));
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.html()).contains("Type the name of the table", "Nothing was done");
    }
    assertThat(run.state()).isEqualTo("failed");
    assertThat(audited(run.id())).isEqualTo(1);
    requireDone(browser.submit(run.page("cancel"), Map.of("confirm", run.name())), run);
    assertThat(run.state()).isEqualTo("cancelled");
  }

  @Test
  void aSwitchHasItsWindowInUtc() {
    Planned run = Planned.of(2).in("done", "forward", true);
    for (Map<String, String> wrong :
        List.of(
            Map.of("not_before", "tomorrow"),
            Map.of("not_before", "2126-02-30T02:00"),
            Map.of("not_before", "2126-02-02T02:00", "not_after", "2126-02-02T02:00"))) {
      assertThat(browser.submit(run.page("switch"), wrong).status()).isEqualTo(400);
    }
    assertThat(run.state()).isEqualTo("done");

    requireDone(
        browser.submit(
            run.page("switch"),
            Map.of("not_before", "2126-02-02T02:00", "not_after", "2126-02-02T04:30:15")),
        run);
    Reply now = run.now();
    assertThat(now.text("/goal")).isEqualTo("switch");
    assertThat(now.text("/switch_not_before")).isEqualTo("2126-02-02T02:00:00Z");
    assertThat(now.text("/switch_not_after")).isEqualTo("2126-02-02T04:30:15Z");
  }

  @Test
  void aVerificationIsAskedFor() {
    Planned run = Planned.of(2).in("paused", "forward", true);
    requireDone(browser.submit(run.page("verify"), Map.of()), run);
    assertThat(run.events()).contains("verify");
  }

  @Test
  void aContractShowsWhatUsesTheOldColumnsAndAsksForTheName() {
    Planned run = Planned.of(2);
    GATEWAY.execute(
        "alter table public.%1$s add snowflake_id bigint; create view public.seen_%1$s as select id from public.%1$s"
            .formatted(run.table()));
    run.switched();
    Page page = browser.get(run.page("contract"));
    assertThat(page.html())
        .contains("What still uses the old columns", "view public.seen_" + run.table())
        .contains("no way back", "Type the name of the table");

    assertThat(browser.submit(run.page("contract"), Map.of("confirm", "x")).status())
        .isEqualTo(400);
    Page refused =
        browser.submit(
            run.page("contract"), Map.of("confirm", run.name(), "accept.old_column", "yes"));
    assertThat(refused.status()).isEqualTo(422);
    assertThat(refused.html()).contains("<code>old_column_needed</code>");
    assertThat(run.state()).isEqualTo("done");

    GATEWAY.execute(
        """
        drop view public.seen_%1$s;
        alter table public.%1$s drop constraint %1$s_pkey;
        update public.%1$s set snowflake_id = id;
        alter table public.%1$s add primary key (snowflake_id)\
        """
            .formatted(run.table()));
    requireDone(
        browser.submit(
            run.page("contract"), Map.of("confirm", run.name(), "accept.old_column", "yes")),
        run);
    assertThat(run.events()).contains("contract");
  }

  @Test
  void aRetirementSaysWhatItDoesForEachKindOfNewKeys() {
    Planned run = Planned.of(2).in("contracted", "contract", true);
    Page page = browser.get(run.page("retire"));
    assertThat(page.html())
        .contains("value=\"none\"", "value=\"function\"", "worker 1023", "drop trigger");

    assertThat(browser.submit(run.page("retire"), Map.of("confirm", run.name())).html())
        .contains("Send none, if the application");
    assertThat(browser.submit(run.page("retire"), Map.of("new_keys", "none")).status())
        .isEqualTo(400);
    requireDone(
        browser.submit(run.page("retire"), Map.of("new_keys", "none", "confirm", run.name())), run);
    assertThat(run.events()).contains("retire");
    assertThat(browser.get(run.page("retire")).status()).isEqualTo(409);
  }

  @Test
  void anActionThatTheStateForbidsHasNoForm() {
    Planned run = Planned.of(1);
    for (String action :
        List.of(
            "pause",
            "resume",
            "retry",
            "verify",
            "switch",
            "contract",
            "retire",
            "undo",
            "forget")) {
      Page page = browser.get(run.page(action));
      assertThat(page.status()).as(action).isEqualTo(409);
      assertThat(page.html()).contains("is planned").doesNotContain("name=\"seen\"");
    }
    assertThat(browser.get("/console/migrations/999999/start").status()).isEqualTo(404);
    assertThat(browser.get("/console/migrations/x/start").status()).isEqualTo(404);
  }

  @Test
  void ofTwoPeopleWhoPressSwitchAndUndoAtOnceOneIsRefused() throws Exception {
    Planned run = Planned.of(2).in("done", "forward", true);
    ConsoleClient other = ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
    Map<String, String> switching =
        Map.of(
            "form_token", browser.get(run.page("switch")).formToken(),
            "seen", "done forward",
            "not_before", "2126-02-02T02:00");
    Map<String, String> undoing =
        Map.of(
            "form_token", other.get(run.page("undo")).formToken(),
            "seen", "done forward",
            "phase", "expand");
    assertThat(browser.get(run.page("undo")).html())
        .contains("value=\"done forward\"", "value=\"expand\" required checked");

    List<Page> pages = new ArrayList<>();
    try (ExecutorService both = Executors.newFixedThreadPool(2)) {
      Future<Page> first = both.submit(() -> browser.post(run.page("switch"), switching));
      Future<Page> second = both.submit(() -> other.post(run.page("undo"), undoing));
      pages.add(first.get());
      pages.add(second.get());
    }

    assertThat(pages).extracting(Page::status).containsExactlyInAnyOrder(303, 409);
    assertThat(pages.stream().filter(page -> page.status() == 409).toList().getFirst().html())
        .contains("The run is", "It has changed since its page was loaded, so nothing was done.");
    assertThat(run.events().stream().filter(List.of("switch", "undo")::contains)).hasSize(1);
  }

  private static Stream<String> actions() {
    return Stream.of(
        "start",
        "pause",
        "resume",
        "retry",
        "throttle",
        "verify",
        "switch",
        "contract",
        "retire",
        "undo",
        "cancel",
        "forget",
        "new");
  }

  /** A run in a state that allows the action. */
  private static Planned readyFor(String action) {
    Planned run = Planned.of(1);
    return switch (action) {
      case "resume", "verify", "undo" -> run.in("paused", "forward", true);
      case "pause" -> run.in("paused", "forward", true);
      case "retry" -> run.in("failed", "forward", true);
      case "switch" -> run.in("done", "forward", true);
      case "contract" -> run.switched();
      case "retire" -> run.in("contracted", "contract", true);
      case "forget" -> run.in("cancelled", "undo", false);
      default -> run;
    };
  }

  @ParameterizedTest
  @MethodSource("actions")
  void whatIsForgedForbiddenOrOfAnotherTypeChangesNothing(String action) {
    Planned run = readyFor(action);
    String path = action.equals("new") ? NEW : run.page(action);
    String readKey = GATEWAY.keyWith(Scope.TABLE_MIGRATIONS_READ);
    String foreignKey = GATEWAY.keyWith(Scope.ALL, "elsewhere");
    ConsoleClient reader = ConsoleClient.signedIn(GATEWAY, readKey);
    ConsoleClient foreigner = ConsoleClient.signedIn(GATEWAY, foreignKey);
    ConsoleClient elsewhere = new ConsoleClient(GATEWAY.uri());
    elsewhere.setCookie(browser.cookie());
    elsewhere.with("Origin", "https://evil.example");
    Map<String, String> form =
        new TreeMap<>(
            Map.of(
                "confirm", run.name(),
                "accept.keys_as_strings", "yes",
                "accept.old_column", "yes",
                "phase", "expand",
                "new_keys", "none",
                "rows_per_second_max", "7",
                "table", run.table(),
                "type", run.table()));
    Reply before = run.now();
    long auditedBefore = GATEWAY.count("select count(*) from coatcheck.audit_entry");
    long runsBefore = GATEWAY.count("select count(*) from coatcheck.table_migration");

    List<Page> refused =
        List.of(
            browser.post(path, and(form, "form_token", "stale")),
            browser.post(path, form),
            new ConsoleClient(GATEWAY.uri())
                .post(path, and(form, "form_token", browser.get("/console").formToken())),
            elsewhere.post(path, and(form, "form_token", browser.get("/console").formToken())),
            reader.post(
                path, and(form, "form_token", reader.get("/console/migrations").formToken())),
            foreigner.post(
                path, and(form, "form_token", foreigner.get("/console/migrations").formToken())));

    assertThat(refused).extracting(Page::status).containsOnly(303, 403);
    assertThat(refused.get(2).location()).startsWith("/console/sign-in");
    assertThat(refused.stream().filter(page -> page.status() == 303)).hasSize(1);
    assertThat(reader.get(path).status()).isEqualTo(403);
    assertThat(run.now().body()).isEqualTo(before.body());
    assertThat(GATEWAY.count("select count(*) from coatcheck.audit_entry"))
        .isEqualTo(auditedBefore);
    assertThat(GATEWAY.count("select count(*) from coatcheck.table_migration"))
        .isEqualTo(runsBefore);
  }

  @Test
  void aReadOnlyConsoleChangesNothing() {
    try (GatewayFixture readOnly = GatewayFixture.own("COATCHECK_CONSOLE", "read-only")) {
      ConsoleClient client = ConsoleClient.signedIn(readOnly, readOnly.key());
      Runs runs = Runs.of(readOnly);
      runs.table("kept", 1);
      String id = runs.plan("kept").text("/id");
      String token = client.get("/console").formToken();
      actions()
          .forEach(
              action -> {
                String path =
                    action.equals("new") ? NEW : "/console/migrations/" + id + "/" + action;
                assertThat(client.get(path).status()).isEqualTo(403);
                assertThat(client.post(path, Map.of("form_token", token)).html())
                    .contains("This console is read-only");
              });
      assertThat(readOnly.client().get(Runs.PATH + "/" + id).text("/state")).isEqualTo("planned");
    }
  }

  @Test
  void namesComeBackAsText() {
    String hostile = "<script>alert(1)</script>\"'&";
    RUNS.type("canary");
    String quoted = "\"" + hostile.replace("\"", "\"\"") + "\"";
    GATEWAY.execute(
        "create schema %1$s; create table %1$s.%1$s (%1$s bigserial primary key)"
            .formatted(quoted));
    String table = quoted + "." + quoted;
    Page planned =
        browser.submit(NEW, Map.of("table", table, "type", "canary", "source", "gateway"));
    assertThat(planned.status()).as(planned.html()).isEqualTo(303);
    String id = planned.location().replace("/console/migrations/", "");
    Planned run = new Planned(id, table);
    GATEWAY.execute("create view public.canary as select * from %s.%s".formatted(quoted, quoted));

    List<Page> shown = new ArrayList<>();
    shown.add(browser.submit(NEW, Map.of("table", hostile, "type", "canary")));
    shown.add(browser.submit(NEW, Map.of("table", table, "type", hostile, "source", hostile)));
    shown.add(browser.get(run.page("start")));
    shown.add(browser.get(run.page("throttle")));
    shown.add(browser.get(run.page("cancel")));
    shown.add(browser.submit(run.page("cancel"), Map.of("confirm", hostile)));
    run.in("failed", "forward", true);
    for (String action : List.of("retry", "undo", "verify")) {
      shown.add(browser.get(run.page(action)));
    }
    run.switched();
    shown.add(browser.get(run.page("contract")));
    run.in("contracted", "contract", true);
    shown.add(browser.get(run.page("retire")));
    run.in("cancelled", "undo", false);
    shown.add(browser.get(run.page("forget")));

    for (Page page : shown) {
      assertThat(page.html()).contains("&lt;script").doesNotContain("<script>");
    }
    requireDone(browser.submit(run.page("forget"), Map.of("confirm", table)), run);
  }
}
