package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Transfers that are broken off leave no connection behind that answers with the rows of another
 * question. The pool has two connections and no resolved ID is cached, so that each request would
 * meet such a connection soon.
 */
@Tag("faults")
class BrokenOffTransfersTest {
  /** More than the buffers between Postgres and a reader hold, so that an export waits for it. */
  private static final int COATS = 120_000;

  /** Makes long rows. */
  private static final String COAT = "coat_" + "x".repeat(50);

  private static final int CHECKED = 1_000;
  private static final int ROUNDS = 5;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.on(
          buffering(256 * 1024, TestDatabase.fresh()),
          "COATCHECK_DATABASE_CONNECTIONS",
          "2",
          "COATCHECK_CACHE_ENTRIES",
          "0");

  private static final TestClient API = GATEWAY.client();
  private static final TestClient ONCE = API.once();
  private static final String OTHER = GATEWAY.keyWith(Scope.ALL);
  private static final TestClient CSV = API.with("Content-Type", "text/csv");

  /** Public IDs by their keys, as they were before anything was broken off. */
  private static final Map<String, String> IDS = new HashMap<>();

  private static String export = "";

  /** Bounds what Postgres sends ahead, so that its COPY lasts as long as its reader. */
  private static TestDatabase buffering(int bytes, TestDatabase database) {
    String separator = database.url().contains("?") ? "&" : "?";
    return new TestDatabase(
        database.url() + separator + "receiveBufferSize=" + bytes,
        database.user(),
        database.password());
  }

  @BeforeAll
  static void hangUpCoats() {
    API.put(TestType.of(COAT, "coat"));
    API.put(TestType.of("hat", "hat"));
    for (int from = 1; from <= COATS; from += COATS / 4) {
      String rows = rows(COAT, from, COATS / 4);
      assertThat(CSV.post("/v1/imports", rows).body().path("created").asInt()).isEqualTo(COATS / 4);
    }
    export = API.get("/v1/exports?type=" + COAT).body().stringValue();
    export
        .lines()
        .skip(1)
        .map(line -> line.split(",", -1))
        .forEach(fields -> IDS.put(fields[1], fields[4]));
    assertThat(IDS).hasSize(COATS);
  }

  @Test
  void afterTwentyExportsThatWereBrokenOffEveryAnswerIsRight() throws Exception {
    try (Load load = new Load()) {
      for (int round = 0; round < ROUNDS; round++) {
        try (TransferSocket reader = begunExport()) {
          reader.vanish();
        }
        begunExport().close();
        try (TransferSocket reader = begunExport()) {
          endExport("pg_terminate_backend");
          assertThat(reader.readToEnd())
              .as("an export that looks complete")
              .doesNotEndWith("0\r\n\r\n");
        }
        try (TransferSocket reader = begunExport()) {
          endExport("pg_cancel_backend");
          assertThat(reader.readToEnd())
              .as("an export that looks complete")
              .doesNotEndWith("0\r\n\r\n");
        }
      }
      load.goOnFor(CHECKED);
    }
    assertEveryAnswerIsRight();
  }

  @Test
  void afterTwentyImportsThatWereBrokenOffEveryAnswerIsRight() throws Exception {
    String chunk = rows("hat", 1_000, 16_384);
    assertThat(CSV.post("/v1/imports", chunk).status()).isEqualTo(200);
    long bucket =
        GATEWAY.count("select bucket from coatcheck.public_id where type_id = 2 and key = 1000");
    try (Load load = new Load()) {
      for (int round = 0; round < ROUNDS; round++) {
        try (TransferSocket sender = begunImport(9_000_000)) {
          sender.send(chunk + "hat,77");
          sender.vanish();
        }
        try (TransferSocket sender = begunImport(9_000_000)) {
          sender.send(chunk);
        }
        for (String way : List.of("pg_terminate_backend", "pg_cancel_backend")) {
          try (TestSession other = GATEWAY.sql().session();
              TransferSocket sender = begunImport(chunk.length())) {
            GATEWAY.execute("delete from coatcheck.public_id where type_id = 2");
            holdUp(other, bucket);
            sender.send(chunk);
            endWaitingImport(way);
            assertThat(sender.readToEnd()).as(way).startsWith("\r\nHTTP/1.1 503");
          }
        }
      }
      load.goOnFor(CHECKED);
    }
    assertEveryAnswerIsRight();
    assertThat(CSV.post("/v1/imports", chunk).status()).isEqualTo(200);
    assertThat(API.get("/v1/exports?type=hat").body().stringValue().lines()).hasSize(16_385);
  }

  /** They take nothing for 10 s and more; everybody else goes on meanwhile. */
  @Test
  void slowReadersAreBrokenOffAndHoldUpNobody() throws Exception {
    try (TransferSocket one = begunExport();
        TransferSocket two = begunExport()) {
      assertThat(CSV.post("/v1/imports", "type,key\nhat,1\n").status()).isEqualTo(200);
      assertThat(API.get("/v1/exports?type=hat").body().stringValue()).contains("hat,1,");
      try (TransferSocket three = begunExport()) {
        Reply fourth = API.refused("overloaded", once -> once.get("/v1/exports?type=hat"));
        assertThat(fourth.status()).isEqualTo(503);
        assertThat(fourth.header("Retry-After")).matches("[1-3]");
        GATEWAY.execute(
            "update coatcheck.api_key set principal = 'another' where key_id = '"
                + OTHER.substring(9, 21)
                + "'");
        assertThat(new TestClient(GATEWAY.uri(), OTHER).get("/v1/exports?type=hat").status())
            .isEqualTo(200);
        three.vanish();
      }
      try (Load load = new Load()) {
        load.goOnFor(2 * CHECKED);
      }
      Awaitility.await().atMost(PATIENCE).until(() -> brokenOff("too_slow") >= 2);
      for (TransferSocket slow : List.of(one, two)) {
        assertThat(slow.readToEnd()).isNotEmpty().doesNotEndWith("0\r\n\r\n");
      }
    }
    try (TransferSocket one = begunExport();
        TransferSocket two = begunExport();
        TransferSocket three = begunExport()) {
      for (TransferSocket reader : List.of(one, two, three)) {
        reader.vanish();
      }
    }
    assertEveryAnswerIsRight();
  }

  /** A portion of the audit may be longer than such a reader takes in ten seconds. */
  @Test
  void aReaderAboveTheMinimumRateGetsTheWholeAudit() throws Exception {
    GATEWAY.execute(
        "with head as (update coatcheck.change_head set audited = audited + 100 returning audited)"
            + " insert into coatcheck.audit_entry (number, at, actor, action, subjects, detail)"
            + " select audited - 100 + n, now(), 'long', 'test.long', '{}',"
            + " jsonb_build_object('text', repeat(md5(n::text), 6000))"
            + " from head, generate_series(1, 100) n");
    try (TransferSocket reader =
        TransferSocket.get(
            GATEWAY, "/v1/audit/export?actor=long", "Authorization: Bearer " + GATEWAY.key())) {
      StringBuilder read = new StringBuilder();
      long until = System.nanoTime() + Duration.ofSeconds(14).toNanos();
      while (System.nanoTime() < until) {
        read.append(reader.read(64 * 1024));
        Thread.sleep(250);
      }
      read.append(reader.readToEnd());
      assertThat(read.toString()).endsWith("0\r\n\r\n");
      assertThat(read.toString().split("\"test.long\"", -1)).hasSize(101);
    }
  }

  /**
   * An export ends with the access of its reader, and that is seen by a reader whose body ends with
   * the connection, as a proxy's that speaks HTTP/1.0.
   */
  @Test
  void aPartOfAnExportNeverLooksLikeTheWhole() throws Exception {
    for (String version : List.of("HTTP/1.0", "HTTP/1.1")) {
      String leaked = GATEWAY.keyWith(Scope.IDS_READ);
      try (TransferSocket slow =
          TransferSocket.of(
              GATEWAY,
              List.of(
                  "GET /v1/exports?type=" + COAT + " " + version,
                  "Host: gateway",
                  "Connection: close",
                  "Authorization: Bearer " + leaked))) {
        assertThat(slow.read(12)).isEqualTo("HTTP/1.1 200");
        double before = brokenOff("access_ended");
        GATEWAY.revokeKey(leaked);
        Awaitility.await().until(() -> brokenOff("access_ended") > before);
        assertThat(slow.isWholeAtTheEnd()).as(version).isFalse();
      }
    }
  }

  private static double brokenOff(String reason) {
    return API.get("/metrics")
        .body()
        .stringValue()
        .lines()
        .filter(line -> line.startsWith("coatcheck_transfers_broken_off_total{"))
        .filter(line -> line.contains(reason) && line.contains("exports"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  private static String rows(String type, int first, int count) {
    return IntStream.range(first, first + count)
        .mapToObj(key -> type + "," + key + "\n")
        .collect(Collectors.joining("", "type,key\n", ""));
  }

  /** Inserts, and doesn't commit, what the first hat collides with. */
  private static void holdUp(TestSession other, long bucket) {
    other.begin(
        "insert into coatcheck.public_id (key, created_at, token, type_id, bucket)"
            + " values (1000, now(), gen_random_uuid(), 2, "
            + bucket
            + ")");
  }

  /** One of which the gateway has sent a part, and waits until the reader takes more. */
  private static TransferSocket begunExport() throws IOException {
    TransferSocket reader =
        admitted("HTTP/1.1 200", () -> TransferSocket.export(GATEWAY, COAT, GATEWAY.key()));
    reader.read(64 * 1024);
    return reader;
  }

  /** One whose rows the gateway waits for. */
  private static TransferSocket begunImport(long bytes) throws IOException {
    TransferSocket sender =
        admitted("HTTP/1.1 100", () -> TransferSocket.load(GATEWAY, bytes, GATEWAY.key()));
    sender.read(" Continue\r\n".length());
    return sender;
  }

  private interface Begin {
    TransferSocket transfer() throws IOException;
  }

  /** Tries again while the transfers that were broken off before are only about to end. */
  private static TransferSocket admitted(String status, Begin begin) throws IOException {
    for (int tried = 0; ; tried++) {
      TransferSocket transfer = begin.transfer();
      String answered = transfer.read(status.length());
      if (answered.equals(status)) {
        return transfer;
      }
      transfer.close();
      assertThat(answered).isEqualTo("HTTP/1.1 503");
      assertThat(tried).isLessThan(10_000);
    }
  }

  /** Ends the export that began last, while Postgres sends its rows. */
  private static void endExport(String way) {
    end(way, "query like 'copy (%'");
  }

  /** Ends an import while it waits for the row of another transaction. */
  private static void endWaitingImport(String way) {
    end(way, "query like 'copy coatcheck.public_id%' and wait_event_type = 'Lock'");
  }

  private static void end(String way, String which) {
    Awaitility.await(way)
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(20))
        .until(
            () ->
                GATEWAY.count(
                        "select count("
                            + way
                            + "(pid)) from (select pid from pg_stat_activity"
                            + " where datname = current_database() and state = 'active' and "
                            + which
                            + " order by backend_start desc limit 1) latest")
                    > 0);
  }

  private static void assertEveryAnswerIsRight() {
    List<String> wrong = new ArrayList<>();
    IDS.entrySet().stream()
        .limit(CHECKED)
        .forEach(
            coat -> {
              Reply resolved = API.get("/v1/ids/" + coat.getValue());
              if (resolved.status() != 200 || !resolved.text("/key").equals(coat.getKey())) {
                wrong.add(coat + " resolved to " + resolved.status() + " " + resolved.body());
              }
            });
    assertThat(wrong).isEmpty();
    String newest = API.get("/v1/ids?type=" + COAT + "&limit=1").text("/data/0/id");
    assertThat(newest).isEqualTo(IDS.get(Integer.toString(COATS)));
    assertThat(API.get("/v1/exports?type=" + COAT).body().stringValue()).isEqualTo(export);
    assertThat(
            CSV.post("/v1/imports", "type,key\n" + COAT + ",1\n" + COAT + ",2\n")
                .body()
                .path("existing")
                .asInt())
        .isEqualTo(2);
  }

  /** Resolves, lookups, lists and mints meanwhile. Each is answered rightly or with 503. */
  private static final class Load implements AutoCloseable {
    private static final int THREADS = 2;

    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicLong answered = new AtomicLong();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final List<Thread> threads =
        IntStream.range(0, THREADS)
            .mapToObj(number -> Thread.ofVirtual().start(() -> run(number)))
            .toList();

    void goOnFor(int answers) {
      long enough = answered.get() + answers;
      Awaitility.await().atMost(PATIENCE).until(() -> answered.get() >= enough);
    }

    private void run(int number) {
      for (int i = number; !ended.get(); i++) {
        String key = Integer.toString(1 + i * 7919 % COATS);
        String id = IDS.get(key);
        Reply reply =
            switch (i % 3) {
              case 0 -> ONCE.get("/v1/ids/" + id);
              case 1 -> ONCE.get("/v1/types/" + COAT + "/keys/" + key);
              default -> ONCE.mint(COAT, "key", key);
            };
        if (reply.status() != 503
            && !(reply.status() == 200
                && reply.text("/id").equals(id)
                && reply.text("/key").equals(key))) {
          wrong.add(key + ": " + reply.status() + " " + reply.body());
        }
        answered.incrementAndGet();
      }
    }

    @Override
    public void close() {
      ended.set(true);
      threads.forEach(Load::await);
      assertThat(wrong).isEmpty();
      assertThat(answered).hasValueGreaterThan(CHECKED);
    }

    private static void await(Thread thread) {
      try {
        thread.join();
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
