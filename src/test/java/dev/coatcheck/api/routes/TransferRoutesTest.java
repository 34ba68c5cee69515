package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Imports and exports over HTTP, and those that are refused, broken off, or too many. */
class TransferRoutesTest {
  private static final String IMPORTS = "/v1/imports";
  private static final String ALL = "type,key,legacy_id,created_at,public_id\n";

  private static final String EXPORTED =
      "type,key,legacy_id,created_at,public_id,client_id,client_namespace,client_principal\n";

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Pattern ID = Pattern.compile("[a-z]+_[0-9A-Za-z]{24}");
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient API = GATEWAY.client();
  private static final TestClient CSV = API.with("Content-Type", "text/csv");
  private static final TestClient NDJSON = API.with("Content-Type", "application/x-ndjson");

  @BeforeAll
  static void types() {
    for (String name :
        List.of("charge", "moved", "bad", "conflict", "named", "ended", "cut", "planted")) {
      API.put(TestType.of(name, name));
    }
    API.put(TestType.of("person", "usr").uuids());
  }

  @Test
  void aFileIsTakenInOnceHoweverOftenItIsSent() {
    String file =
        """
        type,key
        charge,101
        charge,102
        person,01a1fd3c-753a-7c3e-9a41-6f0d2be8175c
        charge,101
        """;

    assertCounts(CSV.post(IMPORTS, file), 4, 3, 1, 0);
    assertCounts(CSV.post(IMPORTS, file), 4, 0, 4, 0);

    assertThat(API.get("/v1/types/charge/keys/102").status()).isEqualTo(200);
  }

  @Test
  void whatIsExportedIsWhatWasImported() {
    assertCounts(
        CSV.post(
            IMPORTS,
            """
            type,key,legacy_id,created_at
            moved,7,70,2020-02-03 09:50:06.789+05:45
            moved,5,,
            """
                .replace("\n", "\r\n")),
        2,
        2,
        0,
        0);

    Reply csv = API.get("/v1/exports?type=moved");
    Reply ndjson = API.get("/v1/exports?type=moved&format=ndjson");

    assertThat(API.get("/v1/exports?type=nosuchtype").status()).isEqualTo(404);
    assertThat(csv.body().stringValue())
        .matches(
            EXPORTED
                + "moved,5,,20\\d\\d-[-0-9T:.]+Z,moved_[0-9A-Za-z]{24},,,\n"
                + "moved,7,70,2020-02-03T04:05:06.789000Z,moved_[0-9A-Za-z]{24},,,\n");
    assertThat(csv.header("Content-Disposition")).isEqualTo("attachment; filename=\"moved.csv\"");
    assertThat(ndjson.body().stringValue())
        .contains("{\"type\":\"moved\",\"key\":\"7\",\"legacy_id\":\"70\",\"created_at\":\"2020-");
    assertCounts(CSV.post(IMPORTS, csv.body().stringValue()), 2, 0, 2, 0);
    assertCounts(NDJSON.post(IMPORTS, ndjson.body().stringValue()), 2, 0, 2, 0);
  }

  /** Transfers have connections of their own. */
  @Test
  void whatANeighbourPlantsRunsInNoTransfer() {
    String fail = " language plpgsql as $$ begin raise exception 'planted'; end $$";
    GATEWAY
        .sql()
        .execute(
            "create function public.times(numeric, integer) returns numeric" + fail,
            "create operator public.* (function = public.times, leftarg = numeric,"
                + " rightarg = integer)",
            "create function public.unnest(text[]) returns setof text" + fail);
    try {
      assertCounts(CSV.post(IMPORTS, "type,key\nplanted,8150\n"), 1, 1, 0, 0);
      String file = API.get("/v1/exports?type=planted").body().stringValue();
      assertThat(file).contains("planted,8150,");
      GATEWAY.execute("delete from coatcheck.public_id where key = 8150");
      assertCounts(CSV.post(IMPORTS, file), 1, 1, 0, 0);
    } finally {
      GATEWAY
          .sql()
          .execute(
              "drop operator public.* (numeric, integer)",
              "drop function public.times, public.unnest");
    }
  }

  @Test
  void anIdThatWasAskedForBeforeItsImportResolvesSoonAfter() {
    API.put(TestType.of("asked", "ask"));
    CSV.post(IMPORTS, "type,key\nasked,90\n");
    String id = API.get("/v1/types/asked/keys/90").text("/id");
    GATEWAY.execute("delete from coatcheck.public_id where key = 90");
    assertThat(API.get("/v1/ids/" + id).status()).isEqualTo(404);

    CSV.post(IMPORTS, "type,key,public_id\nasked,90," + id + "\n");

    try (MachineDelay delay = MachineDelay.measure()) {
      long from = System.nanoTime();
      Awaitility.await().until(() -> API.get("/v1/ids/" + id).status() == 200);
      delay.requireWithin(Duration.ofSeconds(2), Duration.ofNanos(System.nanoTime() - from));
    }
  }

  @Test
  void badRowsAreNamedByTheirLineAndTheRestGoesIn() {
    String foreign = ids(CSV, "type,key\nnamed,1\n", "named").getFirst();
    Reply reply =
        CSV.post(
            IMPORTS,
            ALL
                + "bad,1,,,\n" // line 2
                + "nosuchtype,1,,,\n"
                + ",1,,,\n"
                + "bad,,,,\n"
                + "bad,007,,,\n"
                + "bad,+1,,,\n" // line 7
                + "bad,9223372036854775808,,,\n"
                + "bad,2,0,,\n"
                + "bad,2,-5,,\n"
                + "bad,2,,1969-12-31T23:59:59Z,\n"
                + "bad,2,,2999-01-01T00:00:00Z,\n" // line 12
                + "bad,2,,yesterday,\n"
                + "bad,2,,,bad_00000000000000000000002B\n"
                + "bad,2,,,"
                + foreign
                + "\n"
                + "bad,2,,\n"
                + "bad,\u00fc,,,\n" // line 17
                + "bad,\0,,,\n"
                + "bad,3,,,\n");

    assertCounts(reply, 18, 2, 0, 16);
    assertThat(String.join(", ", errors(reply)))
        .isEqualTo(
            "3 type_unknown, 4 type_missing, 5 key_missing, 6 key_malformed, 7 key_malformed"
                + ", 8 key_malformed, 9 legacy_id_malformed, 10 legacy_id_malformed"
                + ", 11 created_at_malformed, 12 created_at_malformed, 13 created_at_malformed"
                + ", 14 public_id_malformed, 15 public_id_malformed, 16 row_malformed"
                + ", 17 key_malformed, 18 key_malformed");
    assertThat(API.get("/v1/types/bad/keys/3").status()).isEqualTo(200);
    assertThat(API.get("/v1/types/bad/keys/2").status()).isEqualTo(404);
  }

  @Test
  void whatContradictsTheDatabaseIsRefusedRowByRow() {
    List<String> ids =
        ids(CSV, "type,key,legacy_id\nconflict,1,10\nconflict,2,20\nconflict,3,\n", "conflict");
    Reply reply =
        CSV.post(
            IMPORTS,
            ALL
                + ("conflict,1,10,," + ids.get(0) + "\n") // as it is
                + ("conflict,1,,," + altered(ids.get(0), 0, 1) + "\n") // of another bucket
                + ("conflict,1,,," + altered(ids.get(0), 1, 0) + "\n") // another one
                + "conflict,1,20,,\n" // the legacy ID of another
                + "conflict,4,20,,\n" // and for a new key
                + "conflict,,20,,\n" // found by its legacy ID
                + "conflict,3,30,,\n" // gets its legacy ID
                + "conflict,5,30,,\n" // which was just taken
                + "conflict,,50,,\n" // new, with a generated key
                + "conflict,,50,,\n"); // the same again

    assertThat(errors(reply))
        .containsExactly(
            "3 bucket_mismatch",
            "4 public_id_conflict",
            "5 alias_conflict",
            "6 alias_conflict",
            "9 alias_conflict");
    assertCounts(reply, 10, 1, 4, 5);
    assertThat(API.get("/v1/types/conflict/keys/4").status()).isEqualTo(404);
    assertThat(API.get("/v1/exports?type=conflict").body().stringValue())
        .contains("conflict,3,30,")
        .containsPattern("conflict,[0-9]{15,19},50,");
  }

  @Test
  void anEndedIdNeverComesBack() {
    String id = ids(CSV, "type,key,legacy_id\nended,1,10\nended,2,\n", "ended").getFirst();
    assertThat(API.post("/v1/ids/" + id + "/revoke", "{}").status()).isEqualTo(200);

    Reply reply =
        CSV.post(IMPORTS, ALL + "ended,1,,,\nended,,10,,\nended,1,,," + id + "\nended,2,,,\n");

    assertThat(errors(reply)).containsExactly("2 id_ended", "3 id_ended", "4 id_ended");
    assertCounts(reply, 4, 0, 1, 3);
    assertThat(API.get("/v1/exports?type=ended").body().stringValue()).doesNotContain(id);
    assertThat(API.get("/v1/exports?type=ended&include_ended=true").body().stringValue())
        .contains(id + ",,,,revoked\n")
        .contains(",,,,active\n");
    assertThat(
            API.get("/v1/exports?type=ended&include_ended=true&format=ndjson").body().stringValue())
        .contains("\"status\":\"revoked\"}");
  }

  @Test
  void errorsAreListedUpToTheirMaximumAndAllCounted() {
    String file = "type,key\n" + "bad,x\n".repeat(20_000);

    Reply usual = CSV.post(IMPORTS, file);
    assertCounts(usual, 20_000, 0, 0, 20_000);
    assertThat(errors(usual))
        .hasSize(100)
        .startsWith("2 key_malformed")
        .endsWith("101 key_malformed");
    assertThat(errors(CSV.post(IMPORTS + "?errors_max=0", file))).isEmpty();
    assertThat(errors(CSV.post(IMPORTS + "?errors_max=17000", file)))
        .hasSize(17_000)
        .endsWith("17001 key_malformed");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "charge,1\n",
        "type,id\n",
        "type,key,type\n",
        "type,\"key\n",
        "{\"type\":\"charge\"}"
      })
  void aFileWithoutItsColumnsIsRefused(String file) {
    Reply reply = CSV.hostile().post(IMPORTS, file);

    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.text("/code")).isEqualTo("request_invalid");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "application/json", "text/plain",
        "text/csv; charset=utf-16", "text/csv; header=absent; charset=utf-8",
        "multipart/form-data", "application/x-www-form-urlencoded"
      })
  void anotherMediaTypeIsRefused(String contentType) {
    assertThat(API.with("Content-Type", contentType).hostile().post(IMPORTS, "type,key\n").status())
        .isEqualTo(415);
    assertThat(CSV.with("Content-Encoding", "gzip").hostile().post(IMPORTS, "type,key\n").status())
        .isEqualTo(415);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/exports", "/v1/exports?type=",
        "/v1/exports?type=moved&format=xml", "/v1/exports?type=moved&include_ended=1",
        "/v1/exports?type=moved&limit=1", "/v1/exports?type=moved&type=moved"
      })
  void anUnknownParameterOfAnExportIsRefused(String target) {
    assertThat(API.hostile().get(target).status()).isEqualTo(400);
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "50001", "1e3", "999999999999", ""})
  void errorsMaxHasALimit(String value) {
    assertThat(CSV.hostile().post(IMPORTS + "?errors_max=" + value, "type,key\n").status())
        .isEqualTo(400);
  }

  @Test
  void aBodyThatBreaksOffLeavesWholeRowsOnly() throws IOException {
    try (Socket socket = connect()) {
      send(socket, "Content-Length: 1000", "type,key\ncut,1\ncut,2\ncut,3");
      socket.shutdownOutput();
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(answer).doesNotContain(" 200 ");
    }
    String chunk = "cut,%d\n".repeat(16_384).formatted(numbers(1_000, 16_384));
    try (Socket socket = connect()) {
      send(socket, "Content-Length: 9000000", "type,key\n" + chunk + "cut,77");
      socket.shutdownOutput();
      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
          .doesNotContain(" 200 ");
    }

    for (String key : List.of("1", "2", "3", "7", "77")) {
      assertThat(API.get("/v1/types/cut/keys/" + key).status()).as(key).isEqualTo(404);
    }
    // The first chunk was whole.
    assertThat(API.get("/v1/types/cut/keys/1000").status()).isEqualTo(200);
    assertThat(API.get("/v1/types/cut/keys/17383").status()).isEqualTo(200);
  }

  @Test
  void aKeyThatIsRevokedWhileItsFileComesBringsNothingIn() throws IOException {
    String leaked = GATEWAY.keyWith(Scope.IDS_WRITE);
    TestClient thief = new TestClient(GATEWAY.uri(), leaked);
    requireRefused(
        leaked,
        () -> {
          GATEWAY.revokeKey(leaked);
          Awaitility.await().until(() -> thief.get("/v1/types").status() == 401);
        });
  }

  @Test
  void soDoesAKeyWhoseTypesAreLimitedWhileItsFileComes() throws IOException {
    String limited = GATEWAY.keyWith(Scope.ALL);
    TestClient holder = new TestClient(GATEWAY.uri(), limited);
    requireRefused(
        limited,
        () -> {
          Reply patched =
              API.send(
                  "PATCH",
                  "/v1/access/keys/key_" + limited.substring(9, 21),
                  "{\"types\":[\"charge\"]}");
          assertThat(patched.status()).isEqualTo(200);
          Awaitility.await().until(() -> holder.get("/v1/types/cut").status() == 403);
        });
  }

  /** Its first row has come before the change, and the second one comes after it. */
  private static void requireRefused(String key, Runnable change) throws IOException {
    String rows = "type,key\ncut,900001\n";
    String last = "cut,900002\n";
    try (TransferSocket file = TransferSocket.load(GATEWAY, rows.length() + last.length(), key)) {
      assertThat(file.read("HTTP/1.1 100 Continue\r\n\r\n".length())).startsWith("HTTP/1.1 100");
      file.send(rows);
      change.run();
      file.send(last);
      assertThat(file.readToEnd()).startsWith("HTTP/1.1 403").contains("no later row");
    }
    assertThat(API.get("/v1/types/cut/keys/900001").status()).isEqualTo(404);
  }

  /** The commit of a chunk may have come through. */
  @Test
  void anImportWhoseDatabaseGoesPromisesNothingOfLaterRows() throws IOException {
    String rows = "type,key\ncut,900011\n";
    try (TransferSocket file = TransferSocket.load(GATEWAY, rows.length(), GATEWAY.key())) {
      assertThat(file.read("HTTP/1.1 100 Continue\r\n\r\n".length())).startsWith("HTTP/1.1 100");
      GATEWAY.setReachable(false);
      file.send(rows);
      assertThat(file.readToEnd())
          .startsWith("HTTP/1.1 503")
          .contains("All rows up to line 0 are done; later ones may be.");
    } finally {
      GATEWAY.setReachable(true);
    }
  }

  @Test
  void aThirdImportOfOnePrincipalIsToldToComeAgain() throws IOException {
    try (TransferSocket one = TransferSocket.load(GATEWAY, 1_000, GATEWAY.key());
        TransferSocket two = TransferSocket.load(GATEWAY, 1_000, GATEWAY.key())) {
      for (TransferSocket socket : List.of(one, two)) {
        assertThat(socket.read("HTTP/1.1 100".length())).as("has its turn").endsWith("100");
        socket.send("type,key\ncharge,1\n");
      }
      Reply refused = CSV.refused("overloaded", once -> once.post(IMPORTS, "type,key\n"));
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.header("Retry-After")).matches("[1-3]");
      // All else goes on.
      assertThat(API.get("/v1/exports?type=charge").status()).isEqualTo(200);
      assertThat(API.get("/v1/types/charge").status()).isEqualTo(200);
    }
    assertThat(CSV.post(IMPORTS, "type,key\n").status()).isEqualTo(200);
  }

  /** Nothing is written yet, so no write tells that they are gone. */
  @Test
  @Tag("faults")
  void readersThatLeaveBeforeTheFirstRowKeepNeitherPermitNorBackend() throws IOException {
    double before = exportsLeft();
    try (TestSession _ =
        GATEWAY.sql().begin("lock table coatcheck.public_id in access exclusive mode")) {
      try (TransferSocket _ = TransferSocket.export(GATEWAY, "charge", GATEWAY.key());
          TransferSocket _ = TransferSocket.export(GATEWAY, "charge", GATEWAY.key());
          TransferSocket reset = TransferSocket.export(GATEWAY, "charge", GATEWAY.key())) {
        Awaitility.await().atMost(PATIENCE).until(() -> exportsThatWait() == 3);
        reset.vanish();
      }
      Awaitility.await().atMost(PATIENCE).until(() -> exportsLeft() == before + 3);
      Awaitility.await().atMost(PATIENCE).until(() -> exportsThatWait() == 0);
    }
    assertThat(API.get("/v1/exports?type=charge").status()).isEqualTo(200);
  }

  @Test
  @Tag("faults")
  void anExportWhoseAccessEndsBeforeItsFirstRowEndsAtTheServer() throws IOException {
    String leaked = GATEWAY.keyWith(Scope.IDS_READ);
    try (TestSession _ =
            GATEWAY.sql().begin("lock table coatcheck.public_id in access exclusive mode");
        TransferSocket reader = TransferSocket.export(GATEWAY, "charge", leaked)) {
      Awaitility.await().atMost(PATIENCE).until(() -> exportsThatWait() == 1);
      GATEWAY.revokeKey(leaked);
      Awaitility.await().atMost(PATIENCE).until(() -> exportsThatWait() == 0);
      assertThat(reader.readToEnd()).isEmpty();
    }
  }

  @Test
  void aReaderThatSendsMoreBeforeTheFirstRowGetsTheWholeExport() throws Exception {
    List<String> request =
        List.of(
            "GET /v1/exports?type=charge HTTP/1.1",
            "Host: gateway",
            "Authorization: Bearer " + GATEWAY.key());
    TestSession other =
        GATEWAY.sql().begin("lock table coatcheck.public_id in access exclusive mode");
    try (other;
        TransferSocket reader = TransferSocket.of(GATEWAY, request)) {
      Awaitility.await().atMost(PATIENCE).until(() -> exportsThatWait() == 1);
      reader.send("GET /health/live HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n");
      Thread.sleep(1_200); // the connection is looked at twice a second
      other.rollback();
      String answers = reader.readToEnd();
      assertThat(answers).startsWith("HTTP/1.1 200").contains("\r\n0\r\n\r\n");
    }
  }

  private static long exportsThatWait() {
    return GATEWAY.count(
        "select count(*) from pg_stat_activity where datname = current_database()"
            + " and application_name = 'coatcheck export' and wait_event_type = 'Lock'");
  }

  private static double exportsLeft() {
    return API.get("/metrics")
        .body()
        .stringValue()
        .lines()
        .filter(line -> line.startsWith("coatcheck_transfers_broken_off_total{"))
        .filter(line -> line.contains("client_gone") && line.contains("exports"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** A silent sender meets no limit of Jetty's before its idle time-out. All wait together. */
  @Test
  void sendersWhoAreTooSlowAreToldSoAndTheirPermitsAreFree() throws IOException {
    assumeFalse(
        "lesser".equals(System.getProperty("coatcheck.test.role")),
        "the role owns no table that could be migrated");
    GATEWAY.execute("create table public.filed_slowly (id bigserial primary key)");
    API.put(TestType.of("filed", "filed").with("legacy", Map.of()));
    String run =
        API.post("/v1/table-migrations", json("table", "filed_slowly", "type", "filed"))
            .text("/id");
    String keys = "/v1/table-migrations/" + run + "/import";
    try (Socket form = connect();
        TransferSocket slow = TransferSocket.load(GATEWAY, 9_000_000, GATEWAY.key());
        TransferSocket refused = TransferSocket.load(GATEWAY, 9_000_000, GATEWAY.key());
        TransferSocket keysOnly = TransferSocket.load(GATEWAY, keys, 9_000_000, GATEWAY.key())) {
      form.getOutputStream()
          .write(
              RawHttp.request(
                  List.of(
                      "POST /console/session HTTP/1.1",
                      "Host: gateway",
                      "Origin: http://gateway",
                      "Content-Type: application/x-www-form-urlencoded",
                      "Content-Length: 100"),
                  "key=".getBytes(StandardCharsets.US_ASCII)));
      slow.send("type,key\n" + "cut,%d\n".repeat(16_384).formatted(numbers(50_000, 16_384)));
      refused.send("no,such,columns\n");
      keysOnly.send("legacy_id\n1\n");

      String answer = answer(slow, IMPORTS);
      assertThat(answer)
          .startsWith("HTTP/1.1 408")
          .contains("\"code\":\"request_timeout\"")
          .contains("All rows up to line 16385 are done");
      assertThat(answer(refused, IMPORTS))
          .as("the rest of a refused file is waited for no longer than its rows")
          .startsWith("HTTP/1.1 400")
          .contains("\"code\":\"request_invalid\"");
      assertThat(answer(keysOnly, keys)).startsWith("HTTP/1.1 408");
      assertThat(RawHttp.read(form.getInputStream(), false).statusLine())
          .as("a form of the console")
          .contains(" 408 ");
    }
    assertThat(API.get("/v1/types/cut/keys/66383").status()).isEqualTo(200);
    assertCounts(CSV.post(IMPORTS, "type,key\ncut,50000\n"), 1, 0, 1, 0);
    GATEWAY.execute("drop table public.filed_slowly");
  }

  private static String answer(TransferSocket sender, String path) {
    String answer = sender.readToEnd().replace("HTTP/1.1 100 Continue\r\n\r\n", "");
    sender.check("POST", path, answer);
    return answer;
  }

  private static Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), GATEWAY.uri().getPort());
    socket.setSoTimeout(20_000);
    return socket;
  }

  private static Object[] numbers(int first, int count) {
    return IntStream.range(first, first + count).boxed().toArray();
  }

  private static void send(Socket socket, String length, String body) throws IOException {
    OutputStream out = socket.getOutputStream();
    out.write(
        ("POST /v1/imports HTTP/1.1\r\nHost: gateway\r\nContent-Type: text/csv\r\n"
                + "Connection: close\r\nAuthorization: Bearer "
                + GATEWAY.key()
                + "\r\n"
                + length
                + "\r\n\r\n"
                + body)
            .getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  /** Another public ID, with its bits changed. */
  private static String altered(String text, long high, long low) {
    PublicId id = ((ParsedId.Valid) PublicId.parse(text)).id();
    Token token = id.token();
    return new PublicId(id.prefix(), new Token(token.high() ^ high, token.low() ^ low)).toString();
  }

  /** Imports, and returns the type's public IDs in the order of keys. */
  private static List<String> ids(TestClient client, String file, String type) {
    assertThat(client.post(IMPORTS, file).status()).isEqualTo(200);
    return ID.matcher(API.get("/v1/exports?type=" + type).body().stringValue())
        .results()
        .map(MatchResult::group)
        .toList();
  }

  private static List<String> errors(Reply reply) {
    return reply
        .body()
        .path("errors")
        .valueStream()
        .map(error -> error.path("line").asInt() + " " + error.path("code").asString())
        .toList();
  }

  private static void assertCounts(Reply reply, int rows, int created, int existing, int refused) {
    assertThat(reply.status()).as("%s", reply.body()).isEqualTo(200);
    assertThat(
            List.of(
                reply.body().path("rows").asInt(),
                reply.body().path("created").asInt(),
                reply.body().path("existing").asInt(),
                reply.body().path("refused").asInt()))
        .as("rows, created, existing, refused in %s", reply.body())
        .containsExactly(rows, created, existing, refused);
  }
}
