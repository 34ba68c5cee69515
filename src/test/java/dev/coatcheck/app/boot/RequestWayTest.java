package dev.coatcheck.app.boot;

import static dev.coatcheck.api.routes.TestClient.json;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.IntConsumer;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code docs/a-request.md} lists the classes that a request really passes through. A gateway in a
 * process of its own records each call of a method of ours while the same request is sent some
 * times in a row; what ran as often belongs to the request, and what ran less often is the work of
 * other threads.
 */
@Tag("faults") // half a minute on a slow machine
class RequestWayTest {
  private static final int TIMES = 40;
  private static final int ROWS = 8_000;
  private static final String BACKFILL = "Backfill";

  private static final String FILLED = "select count(snowflake_id) from public.charge";

  private record Window(Instant from, Instant to) {}

  private static final Map<String, Window> WINDOWS = new LinkedHashMap<>();
  private static List<Entry> entries = List.of();

  /** A call of a method, by the name of its class. */
  private record Entry(Instant at, String type, String method) {
    static Entry of(RecordedEvent event) {
      RecordedMethod method = event.getValue("method");
      return new Entry(event.getStartTime(), method.getType().getName(), method.getName());
    }

    String topLevelType() {
      int nested = type.indexOf('$');
      return nested < 0 ? type : type.substring(0, nested);
    }
  }

  @BeforeAll
  static void record(@TempDir Path folder) throws Exception {
    Path recording = folder.resolve("way.jfr");
    TestDatabase database = TestDatabase.fresh();
    String key = GatewayFixture.keyOn(database);
    try (GatewayChild gateway =
        GatewayChild.serve(
            database,
            "512m",
            Map.of(
                "JAVA_TOOL_OPTIONS",
                "-XX:StartFlightRecording:settings="
                    + settings(folder)
                    + ",maxsize=0,filename="
                    + recording))) {
      TestClient client = new TestClient(gateway.uri(), key);
      TestClient.assertPut(
          client.put(
              TestType.of("charge", "ch")
                  .with(
                      "redirect", Map.of("template", "https://pay.example/{id}", "public", true))));
      each("A mint", number -> mint(client, number + 1));
      String minted = mint(client, 1);
      each("A redirect", number -> assertThat(client.get("/r/" + minted).status()).isEqualTo(302));
      List<String> others =
          IntStream.rangeClosed(0, TIMES).mapToObj(n -> mint(client, 1_000 + n)).toList();
      each(
          "An uncached resolve",
          number ->
              assertThat(client.get("/v1/ids/" + others.get(number)).status()).isEqualTo(200));
      backfill(database, client);
    }
    entries = entries(recording);
  }

  private static List<Entry> entries(Path recording) throws IOException {
    List<Entry> read = new ArrayList<>();
    try (RecordingFile file = new RecordingFile(recording)) {
      while (file.hasMoreEvents()) {
        RecordedEvent event = file.readEvent();
        if (event.getEventType().getName().equals("jdk.MethodTrace")) {
          read.add(Entry.of(event));
        }
      }
    }
    return read;
  }

  private static String mint(TestClient client, int legacyId) {
    return client.mint("charge", "legacy_id", Integer.toString(legacyId)).text("/id");
  }

  /** Once, so that all that is made once is there, and then as often as it is counted. */
  private static void each(String way, IntConsumer request) {
    request.accept(0);
    Instant from = Instant.now();
    IntStream.rangeClosed(1, TIMES).forEach(request);
    WINDOWS.put(way, new Window(from, Instant.now()));
  }

  /** From the start of the run to its last row: a fast machine does the rows in between at once. */
  private static void backfill(TestDatabase database, TestClient client) {
    database
        .sql()
        .execute(
            "create table public.charge (id bigserial primary key)",
            "insert into public.charge select from generate_series(1, %d)".formatted(ROWS));
    TestClient.assertPut(client.put(TestType.of("row", "row").with("legacy", Map.of())));
    String run =
        "/v1/table-migrations/"
            + client
                .post("/v1/table-migrations", json("table", "charge", "type", "row"))
                .text("/id");
    Instant from = Instant.now();
    client.post(
        run + "/start",
        json(
            "accept", client.get(run).body().at("/plan/preconditions").findValuesAsString("code")));
    Awaitility.await()
        .pollInterval(Duration.ofMillis(20))
        .until(() -> client.get(run).body().at("/progress/rows_done").asLong() > 0);
    Awaitility.await()
        .pollInterval(Duration.ofMillis(20))
        .until(() -> Integer.parseInt(requireNonNull(database.sql().text(FILLED))) == ROWS);
    WINDOWS.put("A backfilled row", new Window(from, Instant.now()));
  }

  /** What Java records: the methods of the product. */
  private static Path settings(Path folder) throws IOException, URISyntaxException {
    return Files.writeString(
        folder.resolve("way.jfc"),
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <configuration version="2.0">
          <event name="jdk.MethodTrace">
            <setting name="enabled">true</setting>
            <setting name="filter">%s</setting>
            <setting name="threshold">0 ms</setting>
            <setting name="stackTrace">false</setting>
          </event>
        </configuration>
        """
            .formatted(String.join(";", classes())));
  }

  private static List<String> classes() throws IOException, URISyntaxException {
    Path root = Path.of(Gateway.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (Stream<Path> files = Files.walk(root.resolve("dev"))) {
      return files
          .map(file -> root.relativize(file).toString())
          .filter(file -> file.endsWith(".class") && !file.endsWith("-info.class"))
          .map(file -> file.substring(0, file.length() - ".class".length()).replace('/', '.'))
          .filter(RequestWayTest::mayAct)
          .toList();
    }
  }

  /**
   * Run beside each way, on a slow machine as often: who waits is swept, and leases are renewed.
   */
  private static final Set<String> BESIDE = Set.of("DeadlineSweep", "WorkerLeaseStore");

  @ParameterizedTest
  @ValueSource(strings = {"A mint", "A redirect", "An uncached resolve", "A backfilled row"})
  void thePageNamesTheClassesThatRun(String way) throws IOException {
    Window window = requireNonNull(WINDOWS.get(way));
    List<String> page = onThePage(way);
    List<String> each = passedThrough(window, 1);

    // Of batches there are few, and other loops run as often beside them.
    boolean isBackfill = each.contains(BACKFILL);
    assertThat(passedThrough(window, isBackfill ? Integer.MAX_VALUE : 2)).containsAll(page);
    if (!isBackfill) {
      assertThat(page)
          .as("the list of this way in docs/a-request.md, which is now: " + each)
          .containsAll(each.stream().filter(name -> !BESIDE.contains(name)).toList());
    }
  }

  /** How often methods of a class ran, and when the first one began. */
  private static final class Calls {
    private final Map<String, Integer> byMethod = new HashMap<>();
    private Instant first = Instant.MAX;
    private int most;
  }

  /**
   * Top-level classes in the order in which the first request met them.
   *
   * @param part 1 for those of each request, n for those of every n-th at least
   */
  private static List<String> passedThrough(Window window, int part) {
    Map<String, Calls> calls = new HashMap<>();
    for (Entry entry : entries) {
      if (!entry.at.isBefore(window.from) && !entry.at.isAfter(window.to)) {
        Calls of = calls.computeIfAbsent(entry.topLevelType(), _ -> new Calls());
        of.most = Math.max(of.most, of.byMethod.merge(entry.type + entry.method, 1, Integer::sum));
        of.first = entry.at.isBefore(of.first) ? entry.at : of.first;
      }
    }
    int times =
        Optional.ofNullable(calls.get("dev.coatcheck.migrate.table.Backfill"))
            .map(batches -> batches.most)
            .orElse(TIMES);
    return calls.entrySet().stream()
        .filter(passed -> passed.getValue().most >= times / part)
        .sorted(Comparator.comparing(passed -> passed.getValue().first))
        .map(Map.Entry::getKey)
        .filter(RequestWayTest::acts)
        .map(name -> name.substring(name.lastIndexOf('.') + 1))
        .toList();
  }

  /** Not what the classes work with, not the pool whose threads run them, and nothing generated. */
  private static boolean acts(String name) {
    try {
      Class<?> type = Class.forName(name, false, Gateway.class.getClassLoader());
      return !(type.isRecord()
          || type.isEnum()
          || type.isInterface()
          || Executor.class.isAssignableFrom(type));
    } catch (ClassNotFoundException gone) {
      throw new AssertionError(gone);
    }
  }

  /** What is recorded at all, which takes the gateway longest. */
  private static boolean mayAct(String name) {
    return !(name.startsWith("dev.coatcheck.postgres.sql.schema.")
        || name.startsWith("dev.coatcheck.core."));
  }

  /** The last paragraph of a section. */
  private static List<String> onThePage(String way) throws IOException {
    Matcher list =
        Pattern.compile("(?ms)^## " + way + "$.*?^Classes: (.*?)$\n*(?=^## |\\z)")
            .matcher(Files.readString(Path.of("docs/a-request.md")));
    assertThat(list.find()).as("a list of classes under " + way).isTrue();
    return Pattern.compile("\\w+")
        .matcher(list.group(1))
        .results()
        .map(MatchResult::group)
        .toList();
  }
}
