package dev.coatcheck.ids.redirect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.alias.Alias;
import dev.coatcheck.ids.alias.AliasScheme;
import dev.coatcheck.ids.ending.Endings;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.OlderId.LegacyId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.UnmappedRows;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.redirect.LegacyHits.DayCount;
import dev.coatcheck.ids.registry.DeadLink;
import dev.coatcheck.ids.registry.LegacyPolicy;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Legacy IDs: found, redirected and counted; a migration fills rows with odd numbers. */
class LegacyTest {
  @RegisterExtension static final MappingFixture FIXTURE = new MappingFixture();
  private static final LocalDate FIRST = LocalDate.parse("2026-11-20");
  private static final LocalDate LAST = LocalDate.parse("2026-11-22");
  private static final Instant SUNSET = Instant.parse("2030-01-01T00:00:00Z");
  private static final int MAX_AGE_SECONDS = 3_600;
  private static final long[][] SECONDS_LEFT_AND_MAX_AGE = {
    {86_400, 3_600}, {3_601, 3_600}, {3_599, 3_599}, {1, 1}
  };
  private static final Instant FROM = Instant.parse("2029-06-01T10:00:00Z");
  private static final Instant TO = Instant.parse("2029-06-01T11:00:00Z");

  private final AtomicReference<Instant> now =
      new AtomicReference<>(Instant.parse("2026-11-20T23:59:59Z"));
  private final List<Long> filled = new ArrayList<>();

  private LegacyFixture open(String time, UnmappedRows rows) {
    now.set(Instant.parse(time));
    return LegacyFixture.open(FIXTURE, rows, now::get);
  }

  private LegacyHits hits() {
    return LegacyHits.open(FIXTURE.database, FIXTURE.observer, now::get);
  }

  @Test
  void twoInstancesAddUpPerTypeAndDayInUtc() throws Exception {
    Type charge = FIXTURE.charge;
    Type user = FIXTURE.user;
    List<Future<?>> racers = new ArrayList<>();
    try (LegacyHits here = hits();
        LegacyHits there = hits();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int thread = 0; thread < 8; thread++) {
        LegacyHits hits = thread % 2 == 0 ? here : there;
        racers.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 500; i++) {
                    hits.count(charge);
                    if (i % 50 == 0) {
                      hits.flush();
                    }
                  }
                }));
      }
      here.count(user);
      for (Future<?> racer : racers) {
        racer.get();
      }
    }
    now.set(Instant.parse("2026-11-21T00:00:00Z"));
    try (LegacyHits later = hits()) {
      later.count(charge);
    }

    try (LegacyHits hits = hits()) {
      assertThat(hits.of(charge, FIRST, LAST))
          .containsExactly(new DayCount(FIRST, 4_000), new DayCount(FIRST.plusDays(1), 1));
      assertThat(hits.of(user, FIRST, LAST)).containsExactly(new DayCount(FIRST, 1));
      assertThat(hits.of(charge, FIRST.plusDays(1), LAST))
          .containsExactly(new DayCount(FIRST.plusDays(1), 1));
      assertThat(hits.of(charge, LAST, LAST)).isEqualTo(List.of());
    }
  }

  @Test
  void anOrderlyStopLosesNoCountHoweverManyWait() {
    Type day = FIXTURE.type("day", "day", KeyKind.BIGINT);
    try (LegacyHits hits = hits()) {
      for (int i = 0; i < 2_500; i++) {
        now.set(Instant.parse("2026-11-20T00:00:00Z").plus(Duration.ofDays(i)));
        hits.count(day);
      }
    }

    try (LegacyHits later = hits()) {
      assertThat(later.of(day, FIRST, FIRST.plusDays(3_000))).hasSize(2_500);
    }
  }

  @Test
  void whatCouldNotBeWrittenIsKeptForTheNextTime() {
    Type order = FIXTURE.type("order", "ord", KeyKind.BIGINT);
    try (LegacyHits hits = hits()) {
      hits.count(order);
      FIXTURE.on.setReachable(false);
      try {
        hits.flush();
        hits.count(order);
        hits.flush();
      } finally {
        FIXTURE.on.setReachable(true);
      }
      hits.count(order);

      // The first statements after an outage may meet connections that died in it.
      Awaitility.await()
          .ignoreExceptionsInstanceOf(DatabaseUnavailable.class)
          .untilAsserted(
              () -> {
                hits.flush();
                assertThat(hits.of(order, FIRST, LAST)).containsExactly(new DayCount(FIRST, 3));
              });
    }
  }

  /** Only rows of charges. */
  private final class Table implements UnmappedRows {
    @Override
    public boolean mayHave(int typeNumber) {
      return typeNumber == FIXTURE.charge.number();
    }

    @Override
    public void publish(int typeNumber, List<Key> keys) {}

    @Override
    public boolean fillOnDemand(Type type, long number) {
      filled.add(number);
      if (number % 2 == 0) {
        return false;
      }
      mint(type, number);
      return true;
    }
  }

  private static void mint(Type type, long number) {
    Optional<Key> key =
        type.number() == FIXTURE.charge.number()
            ? Optional.of(new Key.Bigint(number))
            : Optional.empty();
    FIXTURE.mint(
        new MintRequest(
            type, key, List.of(Alias.of(type, AliasScheme.LEGACY, Long.toString(number)))));
  }

  @Test
  void aTypeThatIsGoneDoesNotHoldUpTheCountsOfOthers() {
    Type gone = FIXTURE.type("gone", "gone", KeyKind.BIGINT);
    Type kept = FIXTURE.type("kept", "kept", KeyKind.BIGINT);
    try (LegacyHits hits = hits()) {
      hits.count(gone);
      hits.count(kept);
      FIXTURE.on.sql().execute("delete from coatcheck.type where name = 'gone'");
      hits.flush();

      assertThat(hits.of(kept, FIRST, LAST)).containsExactly(new DayCount(FIRST, 1));
      assertThat(hits.of(gone, FIRST, LAST)).isEmpty();
    }
  }

  @Test
  void rowsWithoutAMappingAreFilledAndAllAnswersAreInOrder() {
    mint(FIXTURE.charge, 1);
    mint(FIXTURE.user, 2);
    try (LegacyFixture legacy = open("2026-01-01T00:00:00Z", new Table())) {
      List<ResolveOutcome> found =
          legacy
              .ids()
              .findAll(
                  List.of(
                      new LegacyId(FIXTURE.charge, 3),
                      new LegacyId(FIXTURE.user, 2),
                      new LegacyId(FIXTURE.charge, 2),
                      new LegacyId(FIXTURE.charge, 1),
                      new LegacyId(FIXTURE.user, 3),
                      new LegacyId(FIXTURE.charge, 3)),
                  LegacyFixture.CALLER)
              .stream()
              .map(LegacyFixture::resolved)
              .toList();

      assertThat(found.stream().map(LegacyTest::key))
          .containsExactly("3", "user", "none", "1", "none", "3");
      assertThat(filled).containsExactlyInAnyOrder(3L, 2L);
      LocalDate today = legacy.hits().today();
      legacy.hits().flush();
      assertThat(legacy.hits().of(FIXTURE.charge, today, today))
          .containsExactly(new LegacyHits.DayCount(today, 3));
      assertThat(legacy.hits().of(FIXTURE.user, today, today))
          .containsExactly(new LegacyHits.DayCount(today, 1));
    }
  }

  @Test
  void aThousandAreFoundAsOneByOne() {
    try (LegacyFixture legacy = open("2026-01-02T00:00:00Z", new Table())) {
      List<LegacyId> ids =
          LongStream.rangeClosed(101, 1_100)
              .mapToObj(number -> new LegacyId(FIXTURE.charge, number))
              .toList();

      List<ResolveOutcome> together =
          legacy.ids().findAll(ids, LegacyFixture.CALLER).stream()
              .map(LegacyFixture::resolved)
              .toList();

      assertThat(together.stream().filter(ResolveOutcome.Found.class::isInstance)).hasSize(500);
      assertThat(together).isEqualTo(ids.stream().map(legacy::find).toList());
      assertThat(legacy.ids().findAll(List.of(), LegacyFixture.CALLER)).isEmpty();
    }
  }

  private static String key(ResolveOutcome outcome) {
    return outcome instanceof ResolveOutcome.Found(Mapping mapping)
        ? mapping.type().name().equals("user") ? "user" : mapping.key().text()
        : "none";
  }

  /** A cache that keeps the redirect longer would lead clients on after the end. */
  @Test
  void noCacheKeepsARedirectBeyondTheSunset() {
    Type _ = paused("ended", "end", "[]");
    try (LegacyFixture legacy = open("2029-01-01T00:00:00Z", UnmappedRows.NONE)) {
      for (long[] seconds : SECONDS_LEFT_AND_MAX_AGE) {
        now.set(SUNSET.minusSeconds(seconds[0]));
        requireMaxAge(legacy, "ended", seconds[1]);
      }
      now.set(SUNSET.minusMillis(1));
      requireMaxAge(legacy, "ended", 0);
      now.set(SUNSET);
      assertThat(follow(legacy, "ended")).isInstanceOf(RedirectOutcome.Over.class);
    }
  }

  @Test
  void noCacheKeepsARedirectWhoseLookUpLastedUntilTheSunset() {
    Type _ = paused("ended", "end", "[]");
    now.set(SUNSET.minusSeconds(60));
    try (LegacyFixture legacy =
        LegacyFixture.open(FIXTURE, UnmappedRows.NONE, () -> now.getAndSet(SUNSET))) {
      now.set(SUNSET.minusSeconds(60));
      requireMaxAge(legacy, "ended", 0);
    }
  }

  /** A type may be older than the list, or registered by an instance that has another one. */
  @ParameterizedTest
  @CsvSource({
    "'shop.example,gone.example', To, Fallback",
    "shop.example, To, Plain",
    "gone.example, NotFound, none"
  })
  void aTypeRedirectsToListedHostsOnly(String list, String redirected, String deadLink) {
    Type hosted =
        FIXTURE.put(
            TestType.of("hosted", "hos")
                .and(
                    """
                    {"redirect":{"template":"https://shop.example/{id}"},"legacy":{},
                     "fallback_url":"https://gone.example/"}
                    """));
    String id = FIXTURE.mint(FIXTURE.generated(hosted)).getFirst().mapping().publicId().toString();
    LegacyCaller visitor = LegacyFixture.visitor("192.0.2.1");
    RedirectHosts hosts = RedirectHosts.parse(list);
    try (LegacyFixture legacy =
        LegacyFixture.open(FIXTURE, UnmappedRows.NONE, hosts, InstantSource.system())) {
      assertThat(legacy.redirector().redirect(id, visitor).getClass().getSimpleName())
          .isEqualTo(redirected);
      FIXTURE.end(new Endings.Request.Revoke(id, Optional.empty()));
      assertThat(
              legacy.redirector().redirect(id, visitor)
                      instanceof RedirectOutcome.Gone(DeadLink link)
                  ? link.getClass().getSimpleName()
                  : "none")
          .isEqualTo(deadLink);
    }
    assertThat(hosted.leadsBeyond(hosts)).isEqualTo(!deadLink.equals("Fallback"));
  }

  /** A cache that keeps the redirect into a brownout would hide it. */
  @Test
  void noCacheKeepsARedirectIntoABrownout() {
    LegacyPolicy policy =
        paused("windows", "wnd", "[%s]".formatted(window(FROM, TO, 503))).legacy().orElseThrow();
    try (LegacyFixture legacy = open("2029-01-01T00:00:00Z", UnmappedRows.NONE)) {
      for (long[] seconds : SECONDS_LEFT_AND_MAX_AGE) {
        now.set(FROM.minusSeconds(seconds[0]));
        requireMaxAge(legacy, "windows", seconds[1]);
      }
      now.set(FROM.minusMillis(1));
      requireMaxAge(legacy, "windows", 0);
      for (Instant within : List.of(FROM, FROM.plusMillis(1), TO.minusSeconds(1))) {
        now.set(within);
        assertThat(follow(legacy, "windows")).isInstanceOf(LegacyPaused.class);
        assertThat(policy.maxAgeSeconds(within)).as("of an exempt caller's redirect").isZero();
      }
      now.set(TO);
      requireMaxAge(legacy, "windows", MAX_AGE_SECONDS);
      now.set(SUNSET.minusSeconds(7));
      requireMaxAge(legacy, "windows", 7);
      now.set(SUNSET);
      assertThat(follow(legacy, "windows")).isInstanceOf(RedirectOutcome.Over.class);
    }
  }

  private static void requireMaxAge(LegacyFixture legacy, String type, long seconds) {
    assertThat(follow(legacy, type))
        .isInstanceOfSatisfying(
            RedirectOutcome.To.class,
            to -> assertThat((long) to.maxAgeSeconds()).isEqualTo(seconds));
  }

  @Test
  void aBrownoutSaysWhenItEndsAndAnExemptKeyNoticesNone() {
    Type type =
        paused(
            "exempt",
            "exm",
            "[%s,%s]".formatted(window(TO, TO.plusSeconds(60), 410), window(FROM, TO, 503)));
    LegacyId id = new LegacyId(type, 17);
    try (LegacyFixture legacy = open("2029-01-01T00:00:00Z", UnmappedRows.NONE)) {
      LegacyCaller other =
          new LegacyCaller(
              Optional.of("000000000000"),
              _ -> List.of(),
              () -> Visitor.at(InetAddress.ofLiteral("192.0.2.7")));
      now.set(FROM.plusMillis(500));
      assertThat(legacy.ids().find(id, other))
          .isInstanceOfSatisfying(
              LegacyPaused.class,
              paused -> {
                assertThat(paused.brownout().status()).isEqualTo(503);
                assertThat(paused.brownout().to()).isEqualTo(TO);
                assertThat(paused.secondsLeft()).isEqualTo(3_600);
                assertThat(paused.notice().sunsetAt()).contains(SUNSET);
              });
      now.set(TO.minusMillis(1));
      assertThat(legacy.ids().find(id, other))
          .isInstanceOfSatisfying(
              LegacyPaused.class, paused -> assertThat(paused.secondsLeft()).isEqualTo(1));
      assertThat(legacy.find(id)).isInstanceOf(ResolveOutcome.Found.class);
      now.set(TO);
      assertThat(legacy.ids().find(id, other))
          .isInstanceOfSatisfying(
              LegacyPaused.class, paused -> assertThat(paused.brownout().status()).isEqualTo(410));
      assertThat(legacy.ids().findAll(List.of(id, id), other))
          .allMatch(LegacyPaused.class::isInstance);
      assertThat(legacy.ids().findAll(List.of(id, id), LegacyFixture.CALLER))
          .allMatch(IdOutcome.Resolved.class::isInstance);
      assertThat(
              legacy
                  .ids()
                  .findAll(
                      List.of(new LegacyId(FIXTURE.user, 99), id, new LegacyId(FIXTURE.user, 98)),
                      other))
          .extracting(outcome -> outcome instanceof LegacyPaused)
          .containsExactly(false, true, false);
    }
  }

  private static String window(Instant from, Instant to, int status) {
    return "{\"from\":\"%s\",\"to\":\"%s\",\"answer\":%d}".formatted(from, to, status);
  }

  private static Type paused(String name, String prefix, String brownouts) {
    Type type =
        FIXTURE.put(
            TestType.of(name, prefix)
                .and(
                    """
                    {"redirect":{"template":"https://shop.example/{id}","max_age_seconds":%1$d},
                     "legacy":{"sunset_at":"%2$s","max_age_seconds":%1$d,"brownouts":%3$s,
                               "brownouts_exempt":["key_2bN8Qx0LmT4a"]}}
                    """
                        .formatted(MAX_AGE_SECONDS, SUNSET, brownouts)));
    mint(type, 17);
    return type;
  }

  private static RedirectOutcome follow(LegacyFixture legacy, String type) {
    return legacy.redirector().follow(type, "17", LegacyFixture.visitor("192.0.2.1")).orElseThrow();
  }
}
