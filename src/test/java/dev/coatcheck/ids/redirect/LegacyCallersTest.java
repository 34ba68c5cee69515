package dev.coatcheck.ids.redirect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.redirect.LegacyCallers.Caller;
import dev.coatcheck.ids.redirect.LegacyCallers.Callers;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.net.InetAddress;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who looks up legacy IDs, counted by several instances in one table. */
class LegacyCallersTest {
  @RegisterExtension static final MappingFixture FIXTURE = new MappingFixture();
  private static final LocalDate DAY = LocalDate.parse("2026-11-20");
  private static final int AGENTS = 1_000_000;

  private final AtomicReference<Instant> now =
      new AtomicReference<>(Instant.parse("2026-11-20T23:59:59Z"));

  private LegacyCallers open() {
    return LegacyCallers.open(FIXTURE.database, FIXTURE.observer, now::get);
  }

  private static LegacyCaller agent(String userAgent) {
    return caller("User-Agent", userAgent);
  }

  private static LegacyCaller caller(String header, String value) {
    return new LegacyCaller(
        Optional.of("2bN8Qx0LmT4a"),
        name -> name.equals(header) ? List.of(value) : List.of(),
        () -> Visitor.at(InetAddress.ofLiteral("203.0.113.9")));
  }

  private static Type type(String name) {
    return FIXTURE.type(name, name, KeyKind.BIGINT);
  }

  private static Callers of(LegacyCallers callers, Type type, CallerKind kind) {
    return callers.of(type, DAY, DAY.plusDays(1), Set.of(kind), 100).getFirst();
  }

  @Test
  void inALongOutageTheDaysThatAreKeptAreLimited() {
    Type patient = type("patient");
    SpaceSaving.Budget budget = new SpaceSaving.Budget(LegacyCallers.COUNTERS_MAX);
    try (LegacyCallers callers =
        new LegacyCallers(
            new LegacyCallerStore(FIXTURE.database), FIXTURE.observer, now::get, budget, 2)) {
      for (int day = 20; day <= 22; day++) {
        now.set(Instant.parse("2026-11-" + day + "T12:00:00Z"));
        callers.count(patient.number(), agent("old"), 1);
      }
      callers.flush();
      assertThat(countOf(callers, patient)).isEqualTo(2);

      callers.count(patient.number(), agent("old"), 1);
      callers.flush();
      assertThat(countOf(callers, patient)).isEqualTo(3);
    }
  }

  private static long countOf(LegacyCallers callers, Type type) {
    return callers
        .of(type, DAY, DAY.plusDays(2), Set.of(CallerKind.USER_AGENT), 1)
        .getFirst()
        .count();
  }

  @Test
  void theCountsOfTwoInstancesAddUp() throws Exception {
    Type charge = FIXTURE.charge;
    List<Future<?>> racers = new ArrayList<>();
    try (LegacyCallers here = open();
        LegacyCallers there = open();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int thread = 0; thread < 8; thread++) {
        LegacyCallers callers = thread % 2 == 0 ? here : there;
        String userAgent = "agent " + thread % 4;
        racers.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 500; i++) {
                    callers.count(charge.number(), agent(userAgent), 1);
                    if (i % 100 == 0) {
                      callers.flush();
                    }
                  }
                }));
      }
      here.count(FIXTURE.user.number(), LegacyFixture.visitor("2001:db8::1"), 7);
      for (Future<?> racer : racers) {
        racer.get();
      }
    }
    now.set(Instant.parse("2026-11-21T00:00:00Z"));
    try (LegacyCallers later = open()) {
      later.count(charge.number(), agent("agent 3"), 5);
    }

    try (LegacyCallers callers = open()) {
      assertThat(of(callers, charge, CallerKind.USER_AGENT))
          .isEqualTo(
              new Callers(
                  CallerKind.USER_AGENT,
                  4_005,
                  List.of(
                      new Caller("agent 3", 1_005, 0),
                      new Caller("agent 0", 1_000, 0),
                      new Caller("agent 1", 1_000, 0),
                      new Caller("agent 2", 1_000, 0))));
      assertThat(
              callers.of(charge, DAY, DAY, EnumSet.allOf(CallerKind.class), 1).stream()
                  .map(each -> each.top().getFirst().text()))
          .containsExactly("key_2bN8Qx0LmT4a", "agent 0", "(none)", "203.0.113.0/24");
      assertThat(of(callers, FIXTURE.user, CallerKind.ADDRESS_RANGE).top())
          .containsExactly(new Caller("2001:db8::/48", 7, 0));
      assertThat(of(callers, FIXTURE.user, CallerKind.API_KEY).top())
          .containsExactly(new Caller("(none)", 7, 0));
      assertThat(
              callers.of(
                  charge, DAY.plusDays(1), DAY.plusDays(1), Set.of(CallerKind.USER_AGENT), 9))
          .containsExactly(
              new Callers(CallerKind.USER_AGENT, 5, List.of(new Caller("agent 3", 5, 0))));
    }
  }

  @Test
  void anOutageKeepsTheCountsAndAShutdownWritesThem() {
    Type order = type("order");
    try (LegacyCallers callers = open()) {
      callers.count(order.number(), agent("before"), 1);
      FIXTURE.on.setReachable(false);
      try {
        callers.flush();
        callers.count(order.number(), agent("during"), 1);
        callers.flush();
        callers.count(order.number(), agent("before"), 2);
      } finally {
        FIXTURE.on.setReachable(true);
      }
      // The first statements after an outage may meet connections that died in it.
      Awaitility.await()
          .ignoreExceptionsInstanceOf(DatabaseUnavailable.class)
          .untilAsserted(
              () -> {
                callers.flush();
                assertThat(of(callers, order, CallerKind.USER_AGENT).top())
                    .containsExactly(new Caller("before", 3, 0), new Caller("during", 1, 0));
              });
      callers.count(order.number(), agent("last"), 9);
    }
    try (LegacyCallers callers = open()) {
      assertThat(of(callers, order, CallerKind.USER_AGENT).top())
          .contains(new Caller("last", 9, 0));
    }
  }

  @Test
  void aTypeThatIsGoneDoesNotHoldUpTheCountsOfOthers() {
    Type gone = type("gone");
    Type kept = type("kept");
    try (LegacyCallers callers = open()) {
      callers.count(gone.number(), agent("a"), 1);
      callers.count(kept.number(), agent("a"), 1);
      FIXTURE.on.sql().execute("delete from coatcheck.type where name = 'gone'");
      callers.flush();

      assertThat(of(callers, kept, CallerKind.USER_AGENT).count()).isEqualTo(1);
      assertThat(of(callers, gone, CallerKind.USER_AGENT))
          .isEqualTo(new Callers(CallerKind.USER_AGENT, 0, List.of()));
    }
  }

  @Test
  @Tag("faults")
  void aMillionUserAgentsStayWithinTheCounters() {
    Type busy = type("busy");
    SpaceSaving.Budget budget = new SpaceSaving.Budget(LegacyCallers.COUNTERS_MAX);
    try (LegacyCallers callers =
        new LegacyCallers(
            new LegacyCallerStore(FIXTURE.database), FIXTURE.observer, now::get, budget, 1)) {
      for (int i = 0; i < AGENTS; i++) {
        callers.count(busy.number(), agent(i % 100 == 0 ? "frequent" : "agent " + i), 1);
      }
      assertThat(LegacyCallers.COUNTERS_MAX - budget.left())
          .as("counters: one kind is full, three have one each")
          .isEqualTo(LegacyCallers.ROWS_MAX + 3);
      callers.flush();
      assertThat(budget.left()).isEqualTo(LegacyCallers.COUNTERS_MAX);
      Callers found = of(callers, busy, CallerKind.USER_AGENT);
      assertThat(found.count()).isEqualTo(AGENTS);
      assertThat(found.top().getFirst())
          .satisfies(
              frequent -> {
                assertThat(frequent.text()).isEqualTo("frequent");
                assertThat(frequent.error()).isLessThanOrEqualTo(3 * AGENTS / 1_000);
                assertThat(10_000L)
                    .isBetween(
                        frequent.count() - frequent.error(), frequent.count() + frequent.error());
              });
    }
  }

  /** Rounds of two instances, each with callers that push those of the round before out. */
  @Test
  void theTableKeepsAThousandCallersAndSaysHowGoodTheirCountsAre() {
    Type crowded = type("crowded");
    long seed = Long.getLong("seed", System.nanoTime());
    Random random = new Random(seed);
    Map<String, Long> exact = new HashMap<>();
    long all = 0;
    try (LegacyCallers here = open();
        LegacyCallers there = open()) {
      for (int round = 0; round < 6; round++) {
        for (int i = 0; i < 4_000; i++) {
          String text =
              i % 20 == 0
                  ? "frequent " + i / 20 % 10
                  : "agent " + (round % 3 * 1_500 + random.nextInt(1_500));
          (i % 2 == 0 ? here : there).count(crowded.number(), agent(text), 1);
          exact.merge(text, 1L, Long::sum);
          all++;
        }
        here.flush();
        there.flush();
      }
      Callers found =
          here.of(crowded, DAY, DAY, Set.of(CallerKind.USER_AGENT), LegacyCallers.ROWS_MAX)
              .getFirst();

      assertThat(found.count()).isEqualTo(all);
      assertThat(found.top()).hasSize(LegacyCallers.ROWS_MAX);
      for (Caller caller : found.top()) {
        assertThat(exact.get(caller.text()))
            .as("%s, seed %d", caller, seed)
            .isBetween(caller.count() - caller.error(), caller.count() + caller.error());
        assertThat(caller.error()).isLessThanOrEqualTo(3 * all / 1_000);
      }
      assertThat(found.top().subList(0, 10))
          .allSatisfy(caller -> assertThat(caller.text()).startsWith("frequent "));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "User-Agent | USER_AGENT | ~curl/8.5~ | ~curl/8.5~",
        "User-Agent | USER_AGENT | ~<script>alert(\"1\")</script>~ |"
            + " ~<script>alert(\"1\")</script>~",
        "User-Agent | USER_AGENT | ~  ~ | ~(none)~",
        "Referer | USER_AGENT | ~x~ | ~(none)~",
        "Referer | REFERRING_HOST | ~https://Shop.Example:8443/a?b=c#d~ | ~shop.example~",
        "Referer | REFERRING_HOST | ~https://user:secret@shop.example/~ | ~shop.example~",
        "Referer | REFERRING_HOST | ~android-app://com.shop.app~ | ~com.shop.app~",
        "Referer | REFERRING_HOST | ~http://[2001:db8::1]/x~ | ~[2001:db8::1]~",
        "Referer | REFERRING_HOST | ~shop.example~ | ~(unreadable)~",
        "Referer | REFERRING_HOST | ~https://a b/~ | ~(unreadable)~",
        "Referer | REFERRING_HOST | ~javascript:alert(1)~ | ~(unreadable)~",
      })
  void whatAClientSendsIsMadePlain(String header, CallerKind kind, String sent, String counted) {
    assertThat(caller(header, sent).text(kind)).isEqualTo(counted);
  }

  @Test
  void whatControlsATerminalIsDropped() {
    String control = "\0b\33[2Jc\nd" + (char) 0x85 + "e" + (char) 0x202e + "f" + (char) 0x2028;
    assertThat(agent("a" + control + "g").text(CallerKind.USER_AGENT)).isEqualTo("ab[2Jcdefg");
    assertThat(agent("\1\2").text(CallerKind.USER_AGENT)).isEqualTo("(unreadable)");
  }

  @Test
  void textsAreCut() {
    assertThat(agent("x".repeat(8_000)).text(CallerKind.USER_AGENT)).isEqualTo("x".repeat(200));
    assertThat(agent("😀".repeat(300)).text(CallerKind.USER_AGENT)).isEqualTo("😀".repeat(200));
    assertThat(agent("\ud83d").text(CallerKind.USER_AGENT)).isEqualTo("(unreadable)");
    assertThat(
            caller("Referer", "https://" + "x".repeat(254) + "/").text(CallerKind.REFERRING_HOST))
        .isEqualTo("(unreadable)");
  }

  @ParameterizedTest
  @CsvSource({
    "203.0.113.9, 203.0.113.0/24",
    "255.255.255.255, 255.255.255.0/24",
    "::ffff:203.0.113.9, 203.0.113.0/24",
    "2001:db8:7:8::1, 2001:db8:7::/48",
    "2001:db8::1, 2001:db8::/48",
    "2001:0:7::1, 2001:0:7::/48",
    "::1, ::/48",
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff, ffff:ffff:ffff::/48",
  })
  void addressesAreTakenByTheirNetworks(String address, String range) {
    assertThat(LegacyFixture.visitor(address).text(CallerKind.ADDRESS_RANGE)).isEqualTo(range);
  }
}
