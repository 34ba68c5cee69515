package dev.coatcheck.api.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** As many threads, statements and transactions are under way as the settings say. */
class ConcurrencyTest {
  private static final int SELECTORS = 23;
  private static final int CALLERS = 12;
  private static final int TRIES_MAX = 10;

  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.own(
          "COATCHECK_SELECTORS",
          String.valueOf(SELECTORS),
          "COATCHECK_RESOLVE_GROUPS",
          "2",
          "COATCHECK_MINT_GROUPS",
          "3");

  private static Doors doors;

  @BeforeAll
  static void start() {
    doors = new Doors(GATEWAY);
    GATEWAY.client().put(TestType.of("charge", "ch"));
    GATEWAY.client().mint("charge");
  }

  @Test
  void soManyThreadsReadRequests() {
    await()
        .untilAsserted(
            () ->
                assertThat(
                        Thread.getAllStackTraces().values().stream()
                            .filter(ConcurrencyTest::reads)
                            .count())
                    .isGreaterThanOrEqualTo(SELECTORS));
  }

  private static boolean reads(StackTraceElement[] stack) {
    return Arrays.stream(stack)
        .anyMatch(frame -> frame.getClassName().equals("org.eclipse.jetty.io.ManagedSelector"));
  }

  @Test
  void soManyStatementsReadMisses() {
    assertThat(
            groupsAtOnce(
                2,
                caller ->
                    doors.answer(
                        "GET /v1/ids/" + new PublicId(new Prefix("ch"), new Token(9, caller)),
                        "Accept: */*")))
        .isEqualTo(2);
  }

  @Test
  void soManyTransactionsMint() {
    assertThat(
            groupsAtOnce(
                3,
                _ ->
                    doors.send(
                        "POST /v1/ids",
                        List.of(doors.authorization(), "Content-Type: application/json"),
                        "{\"type\":\"charge\"}")))
        .isEqualTo(3);
  }

  /** The two IDs of each batch are asked for in one statement of its own. */
  @Test
  void soManyBatchesAreRead() throws IOException {
    assertThat(groupsAtOnce(2, ConcurrencyTest::resolveTwo)).isEqualTo(2);
    for (int i = 0; i < 4; i++) {
      assertThat(resolveTwo(2 * CALLERS)).as("all turns are given back").contains(" 200 ");
    }
  }

  private static String resolveTwo(int caller) throws IOException {
    return doors.send(
        "POST /v1/ids/resolve",
        List.of(doors.authorization(), "Content-Type: application/json"),
        "{\"ids\":[\"%s\",\"%s\"]}".formatted(unknown(caller), unknown(CALLERS + caller)));
  }

  private static PublicId unknown(int number) {
    return new PublicId(new Prefix("ch"), new Token(8, number));
  }

  private interface Request {
    String send(int caller) throws IOException;
  }

  /** The most statements that waited for the table at a time, with more callers than groups. */
  private static long groupsAtOnce(int groups, Request request) {
    long most = 0;
    for (int tried = 0; tried < TRIES_MAX && most < groups; tried++) {
      try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
          TestSession locker = GATEWAY.sql().begin("lock table coatcheck.public_id")) {
        List<Future<String>> answers =
            IntStream.range(0, CALLERS)
                .mapToObj(caller -> callers.submit(() -> request.send(caller)))
                .toList();
        while (!answers.stream().allMatch(Future::isDone)) { // 503 within a second
          most =
              Math.max(
                  most,
                  locker.number(
                      "select count(*) from pg_locks where not granted and relation ="
                          + " 'coatcheck.public_id'::regclass"));
        }
        locker.rollback();
      }
    }
    return most;
  }
}
