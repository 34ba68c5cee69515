package dev.coatcheck.api.console.migrations;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(60)
class MigrationPagesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.own();

  private static final String TABLE = "o<script>alert(1)</script>";
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static String id = "";

  /** Planned by the API, and then set by SQL to paused: no runner carries it on. */
  @BeforeAll
  static void plan() {
    TestClient api = GATEWAY.client();
    api.put(TestType.of("order", "ord").with("legacy", Map.of()));
    GATEWAY.execute("create table public.\"%s\" (id bigserial primary key)".formatted(TABLE));
    id =
        api.post("/v1/table-migrations", json("table", "public." + TABLE, "type", "order"))
            .text("/id");
    GATEWAY.execute(
        """
        update coatcheck.table_migration
           set state = 'paused', rows_total = 1000, rows_done = 250, reason = '<script>why</script>';
        insert into coatcheck.table_migration_load
        select migration_id, now() - n * interval '5 s', 1000 - 10 * n, 2, 0, 'a replica is 12 s behind'
          from coatcheck.table_migration, generate_series(1, 5) n\
        """);
  }

  private static String path() {
    return "/console/migrations/" + id;
  }

  @Test
  void theListHasEachRunWithItsProgress() {
    String html = ConsoleClient.signedIn(GATEWAY, GATEWAY.key()).get("/console/migrations").html();

    assertThat(html)
        .contains(path(), "paused", "25&nbsp;%", "Plan a migration")
        .doesNotContain("o<script");
  }

  @Test
  void aRunShowsItsProgressPlanChartsAndEventsAndTextsOfOthersAsText() {
    String html = ConsoleClient.signedIn(GATEWAY, GATEWAY.key()).get(path()).html();

    assertThat(html)
        .contains("250 of 1,000 rows", "&lt;script&gt;why", "Rows a second", "Replica lag, s")
        .contains("a replica is 12 s behind", "Every statement", "<ol class=\"rail\">", ">plan<")
        .doesNotContain("<script>why", "o<script");
  }

  @Test
  void aRunOfAForeignTypeIsRefused() {
    ConsoleClient other =
        ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.TABLE_MIGRATIONS_READ, "parcel"));

    assertThat(other.get(path()).status()).isEqualTo(403);
    assertThat(other.get(path() + "/events").status()).isEqualTo(403);
    for (ConsoleClient client : List.of(other, new ConsoleClient(GATEWAY.uri()))) {
      assertThat(client.get("/console/events/migrations/" + id).html())
          .isEqualTo("event: reload\ndata: \n\n");
    }
    assertThat(other.get("/console/migrations").html()).contains("No runs here");
  }

  /** Foreign ones take no room on a page, and nothing on it tells of them. */
  @Test
  void thePagesOfAListAreFullOfRunsThatTheCallerMaySee() {
    String copy =
        """
        insert into coatcheck.table_migration overriding system value
        select (jsonb_populate_record(t, jsonb_build_object('migration_id', n, 'state', 'cancelled',
                'type_id', (select type_id from coatcheck.type where name = '%s')))).*
          from coatcheck.table_migration t, generate_series(%d, %d) n where t.migration_id = %s
        """;
    GATEWAY.client().put(TestType.of("crate", "crt"));
    GATEWAY.client().put(TestType.of("barrel", "brl"));
    GATEWAY.execute(copy.formatted("crate", 1_000_001, 1_000_052, id));
    GATEWAY.execute(copy.formatted("barrel", 1_000_101, 1_000_160, id));
    ConsoleClient other =
        ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.TABLE_MIGRATIONS_READ, "crate"));
    try {
      String newest = other.get("/console/migrations").html();
      assertThat(newest)
          .contains("/console/migrations/1000052\"", "?before=1000003\"")
          .doesNotContain("/console/migrations/1000002\"", "10001");
      assertThat(other.get("/console/migrations?before=1000003").html())
          .contains("/console/migrations/1000002\"", "/console/migrations/1000001\"")
          .doesNotContain("Older runs");
    } finally {
      GATEWAY.execute("delete from coatcheck.table_migration where migration_id > 1000000");
    }
  }

  private static BufferedReader stream(ConsoleClient browser) throws Exception {
    String html = browser.get(path()).html();
    String live = html.replaceAll("(?s).*data-live=\"([^\"]+)\".*", "$1");
    return new BufferedReader(
        new InputStreamReader(
            HTTP.send(
                    HttpRequest.newBuilder(GATEWAY.uri().resolve(live))
                        .header("Cookie", "__Host-coatcheck=" + browser.cookie())
                        .build(),
                    BodyHandlers.ofInputStream())
                .body(),
            StandardCharsets.UTF_8));
  }

  private static String upTo(BufferedReader lines, String wanted) throws IOException {
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.contains(wanted)) {
        return line;
      }
    }
    throw new AssertionError("the stream ended before " + wanted);
  }

  @Test
  void aChangeOfProgressArrivesWithinTwoSecondsAndAloneWhatChanged() throws Exception {
    try (MachineDelay delay = MachineDelay.measure();
        BufferedReader lines = stream(ConsoleClient.signedIn(GATEWAY, GATEWAY.key()))) {
      upTo(lines, "250 of 1,000 rows");
      GATEWAY.execute("update coatcheck.table_migration set rows_done = 260");
      long from = System.nanoTime();

      assertThat(upTo(lines, "260 of 1,000 rows"))
          .contains("\"progress\"")
          .doesNotContain("charts");
      delay.requireWithin(Duration.ofSeconds(2), Duration.ofNanos(System.nanoTime() - from));
    } finally {
      GATEWAY.execute("update coatcheck.table_migration set rows_done = 250");
    }
  }

  @Test
  void aStreamEndsWithinTwoSecondsOfTheRevocationOfItsKey() throws Exception {
    String key = GATEWAY.keyWith(Scope.TABLE_MIGRATIONS_READ);
    try (MachineDelay delay = MachineDelay.measure();
        BufferedReader lines = stream(ConsoleClient.signedIn(GATEWAY, key))) {
      upTo(lines, "data: ");
      GATEWAY.revokeKey(key);
      long from = System.nanoTime();
      upTo(lines, "event: reload");
      delay.requireWithin(Duration.ofSeconds(2), Duration.ofNanos(System.nanoTime() - from));
      assertThat(lines.lines().allMatch(line -> line.isBlank() || line.startsWith("data:")))
          .isTrue();
    }
  }

  @Test
  void anotherStateLoadsThePageAnew() throws Exception {
    try (BufferedReader lines = stream(ConsoleClient.signedIn(GATEWAY, GATEWAY.key()))) {
      upTo(lines, "data: ");
      GATEWAY.execute("update coatcheck.table_migration set state = 'failed'");
      upTo(lines, "event: reload");
    } finally {
      GATEWAY.execute("update coatcheck.table_migration set state = 'paused'");
    }
  }

  @Test
  @SuppressWarnings("try") // the close is what is tested
  void aStreamEndsWithTheGateway() throws Exception {
    try (GatewayFixture gateway = GatewayFixture.own()) {
      TestClient api = gateway.client();
      api.put(TestType.of("order", "ord").with("legacy", Map.of()));
      gateway.execute("create table public.orders (id bigserial primary key)");
      String run =
          api.post("/v1/table-migrations", json("table", "orders", "type", "order")).text("/id");
      ConsoleClient browser = ConsoleClient.signedIn(gateway, gateway.key());
      var response =
          HTTP.send(
              HttpRequest.newBuilder(
                      gateway
                          .uri()
                          .resolve(
                              "/console/events/migrations/" + run + "?shape=planned-forward-0"))
                  .header("Cookie", "__Host-coatcheck=" + browser.cookie())
                  .build(),
              BodyHandlers.ofInputStream());
      try (BufferedReader lines =
          new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
        upTo(lines, "data: ");
        gateway.close();
        assertThat(lines.lines().anyMatch(line -> line.contains("reload"))).isFalse();
      }
    }
  }
}
