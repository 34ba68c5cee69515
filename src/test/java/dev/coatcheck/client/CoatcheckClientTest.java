package dev.coatcheck.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.client.FaultyProxy.Fault;
import dev.coatcheck.client.MintResult.Minted;
import dev.coatcheck.client.Resolution.Found;
import dev.coatcheck.client.Resolution.Merged;
import dev.coatcheck.client.Resolution.Revoked;
import dev.coatcheck.client.Resolution.Unknown;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.ParsedPublicId.Reason;
import dev.coatcheck.id.PublicId;
import dev.coatcheck.id.PublicIdType;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120) // for answers that never come
class CoatcheckClientTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static FaultyProxy proxy;

  @PublicIdType(prefix = "ch")
  static final class Charge {}

  @PublicIdType(prefix = "usr", name = "user")
  static final class User {}

  @PublicIdType(prefix = "ch", name = "user")
  static final class Mistaken {}

  private final List<String> calls = new ArrayList<>();
  private final CoatcheckClient client = client();

  @BeforeAll
  static void open() throws IOException {
    proxy = new FaultyProxy(GATEWAY.uri());
    GATEWAY.client().put(TestType.of("charge", "ch"));
    GATEWAY.client().put(TestType.of("user", "usr").uuids());
  }

  @AfterAll
  static void close() {
    proxy.close();
  }

  @BeforeEach
  void forget() {
    proxy.seen();
  }

  @Test
  void theAnswersOfABatchOf2500BelongToTheirItems() {
    List<Key<Charge>> keys =
        LongStream.range(1_000, 3_500).mapToObj(key -> Key.of(Charge.class, key)).toList();

    List<MintResult<Charge>> minted = client.mintAll(keys.stream().map(MintRequest::of).toList());
    List<Resolution<Charge>> found = client.lookupAll(keys);
    List<PublicId<Charge>> ids = found.stream().map(each -> each.current().orElseThrow()).toList();
    List<Resolution<Charge>> resolved = client.resolveAll(ids);

    assertThat(minted).hasSize(2_500);
    for (int i = 0; i < keys.size(); i++) {
      Mapping<Charge> mapping = ((Minted<Charge>) minted.get(i)).mapping();
      assertThat(mapping.key()).isEqualTo(keys.get(i));
      assertThat(ids.get(i)).isEqualTo(mapping.id());
      assertThat(resolved.get(i).key()).contains(keys.get(i));
    }
    calls.remove("listTypes 200");
    assertThat(calls)
        .containsExactly(
            Stream.of("mintBatch 200", "lookupBatch 200", "resolveBatch 200")
                .flatMap(call -> Collections.nCopies(3, call).stream())
                .toArray(String[]::new));
  }

  @Test
  void aPublicIdOfAnotherTypeIsRefusedWithoutACall() {
    PublicId<User> user = client.mint(User.class).mapping().id();
    proxy.seen();

    assertThat(client.resolve(Charge.class, user.toString()))
        .isEqualTo(new Resolution.WrongType<Charge>("ch", "usr"));
    assertThat(proxy.seen()).isZero();
  }

  @Test
  void whatBecameOfAPublicIdIsAResult() {
    Mapping<Charge> charge = client.mint(Charge.class).mapping();
    Mapping<Charge> survivor = client.mint(Charge.class).mapping();

    assertThat(client.resolve(charge.id())).isEqualTo(new Found<>(charge));
    assertThat(client.lookup(charge.key())).isEqualTo(new Found<>(charge));

    client.merge(charge.id(), survivor.id());
    assertThat(client.resolve(Charge.class, charge.id().toString()))
        .isInstanceOf(Merged.class)
        .returns(Optional.of(survivor.id()), Resolution::current);
    assertThat(client.resolve(charge.id()).key()).contains(survivor.key());
    for (Resolution<Charge> row :
        List.of(client.lookup(charge.key()), client.lookupAll(List.of(charge.key())).getFirst())) {
      assertThat(row).isEqualTo(new Merged<>(charge, Optional.empty()));
      assertThat(row.current()).as("it leads to the survivor").contains(charge.id());
    }

    client.revoke(survivor.id(), "leaked");
    Resolution<Charge> ended = client.resolve(survivor.id());
    if (!(ended instanceof Revoked<Charge> revoked)) {
      throw new AssertionError(ended);
    }
    assertThat(revoked.id()).contains(survivor.id());
    assertThat(revoked.reason()).contains("leaked");
    assertThat(revoked.isErased()).isFalse();
    assertThat(client.resolveAll(List.of(survivor.id())))
        .singleElement()
        .isInstanceOf(Revoked.class);

    PublicId<Charge> never = PublicId.of(Charge.class, "ch_00000000000000000000002B");
    assertThat(client.resolve(never)).isEqualTo(new Unknown<>());
    assertThat(client.lookup(Key.of(Charge.class, 9))).isEqualTo(new Unknown<>());
  }

  @Test
  void aTextThatIsNoPublicIdIsMalformed() {
    for (String text : List.of("", ".", "ch_4KIWSf8WvPNoQDBwStVIDYHV", "a/b?c", "x".repeat(300))) {
      assertThat(client.resolve(Charge.class, text))
          .as(text)
          .isInstanceOf(Resolution.Malformed.class);
    }
    assertThat(client.resolve(Charge.class, "ch_4KIWSf8WvPNoQDBwStVIDYHV"))
        .isEqualTo(new Resolution.Malformed<Charge>(Reason.CHECK, 25));
  }

  @Test
  void aTextThatIsNoPublicIdIsMalformedForAKeyOfSomeTypesToo() {
    String key = GATEWAY.keyWith(Scope.IDS_READ);
    GATEWAY
        .sql()
        .execute(
            "update coatcheck.api_key set types = '{charge}' where key_id = '%s'"
                .formatted(key.substring(9, 21)));
    CoatcheckClient limited = CoatcheckClient.builder(proxy.uri()).apiKey(key).build();

    for (String text : List.of("foo", "ch_4KIWSf8WvPNoQDBwStVIDYHV", "a/b?c")) {
      assertThat(limited.resolve(Charge.class, text))
          .as(text)
          .isInstanceOf(Resolution.Malformed.class);
    }
    proxy.seen();
    for (String text : List.of("a\0b", "a\uD83D")) {
      assertThat(limited.resolve(Charge.class, text)).isInstanceOf(Resolution.Malformed.class);
    }
    assertThat(proxy.seen()).as("a proxy may refuse it in its own words").isZero();
  }

  @Test
  void fiveHundredRowsAreOneCall() {
    List<Key<Charge>> keys =
        LongStream.range(10_000, 10_500).mapToObj(key -> Key.of(Charge.class, key)).toList();
    client.mintAll(keys.stream().map(MintRequest::of).toList());
    Collector collector = client.collector();
    proxy.seen();

    List<Pending<Resolution<Charge>>> rows = keys.stream().map(collector::lookup).toList();
    assertThat(collector.lookup(keys.getFirst())).isSameAs(rows.getFirst());
    assertThat(proxy.seen()).isZero();

    for (int i = 0; i < keys.size(); i++) {
      assertThat(rows.get(i).get().key()).contains(keys.get(i));
    }
    assertThat(proxy.seen()).isEqualTo(1);

    assertThat(collector.resolve(rows.getFirst().get().current().orElseThrow()).get().key())
        .contains(keys.getFirst());
    assertThat(proxy.seen()).isEqualTo(1);
  }

  @Test
  void anInterruptedThreadFailsNoQuestionOfAnotherOne() throws Exception {
    Mapping<Charge> one = client.mint(Charge.class).mapping();
    Mapping<Charge> other = client.mint(Charge.class).mapping();
    Collector collector = client.collector();
    Pending<Resolution<Charge>> ofTheFirst = collector.resolve(one.id());
    Pending<Resolution<Charge>> ofTheSecond = collector.resolve(other.id());
    proxy.seen();
    proxy.next(Fault.HALF_ANSWER);

    FutureTask<Resolution<Charge>> stopped = new FutureTask<>(ofTheFirst::get);
    Thread first = Thread.ofPlatform().start(stopped);
    await().until(() -> proxy.seen() == 1);
    FutureTask<Resolution<Charge>> waiting = new FutureTask<>(ofTheSecond::get);
    Thread second = Thread.ofPlatform().start(waiting);
    await().until(() -> second.getState() == Thread.State.WAITING);
    first.interrupt();

    assertThatThrownBy(stopped::get).cause().satisfies(failed -> isInterrupted(failed));
    assertThat(waiting.get()).isEqualTo(new Found<>(other));
    assertThat(ofTheFirst.get()).isEqualTo(new Found<>(one));
    assertThat(proxy.seen()).isEqualTo(1);
  }

  @Test
  void whatAnInterruptedThreadAskedIsSentByTheNextOne() {
    Mapping<User> user = client.mint(User.class).mapping();
    Collector collector = client.collector();
    Pending<Resolution<User>> key = collector.lookup(user.key());
    Pending<Resolution<User>> id = collector.resolve(user.id());

    Thread.currentThread().interrupt();
    assertThatThrownBy(collector::send).satisfies(failed -> isInterrupted(failed));
    assertThat(Thread.interrupted()).isTrue();

    assertThat(id.get()).isEqualTo(new Found<>(user));
    assertThat(key.get()).isEqualTo(new Found<>(user));
  }

  private static void isInterrupted(Throwable failed) {
    assertThat(failed)
        .isInstanceOfSatisfying(
            CoatcheckException.class, e -> assertThat(e.code()).isEqualTo(Problem.INTERRUPTED));
  }

  @Test
  void aCallIsSentAgainAsSoonAsRetryAfterSays() {
    Mapping<Charge> charge = client.mint(Charge.class).mapping();
    proxy.seen();
    proxy.next(Fault.BUSY);

    long start = System.nanoTime();
    assertThat(client.resolve(charge.id())).isEqualTo(new Found<>(charge));

    assertThat(proxy.seen()).isEqualTo(2);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofSeconds(1));
  }

  @Test
  void aWaitThatEndsAfterTheDeadlineIsNotBegun() {
    proxy.next(Fault.BUSY_FOR_LONG);

    assertThatThrownBy(() -> client.mint(Charge.class))
        .isInstanceOfSatisfying(
            CoatcheckException.class,
            e -> {
              assertThat(e.status()).isEqualTo(503);
              assertThat(e.problem().isTemporary()).isTrue();
              assertThat(e.problem().retryAfter()).contains(Duration.ofSeconds(60));
            });
    assertThat(proxy.seen()).isEqualTo(1);
  }

  /** Such as behind a proxy or a network that falls silent. */
  @Test
  @Tag("faults")
  void anAnswerThatStopsHalfwayEndsTheTryAndNotTheCall() {
    Mapping<Charge> charge = client.mint(Charge.class).mapping();
    CoatcheckClient impatient = impatient().build();
    proxy.seen();
    proxy.next(Fault.HALF_ANSWER);

    assertThat(impatient.resolve(charge.id())).isEqualTo(new Found<>(charge));
    assertThat(proxy.seen()).isEqualTo(2);

    proxy.next(Fault.HALF_ANSWER);
    assertThatThrownBy(() -> impatient().triesMax(1).build().resolve(charge.id()))
        .isInstanceOfSatisfying(
            CoatcheckException.class, e -> assertThat(e.code()).isEqualTo("timed_out"));

    proxy.next(Fault.HALF_ANSWER);
    assertThat(impatient.mintAll(Charge.class, 3)).hasSize(3);

    proxy.next(Fault.HALF_ANSWER);
    assertThatThrownBy(() -> impatient.open(GatewayRequest.of("GET", "/v1/nothing")))
        .isInstanceOfSatisfying(
            CoatcheckException.class, e -> assertThat(e.code()).isEqualTo("timed_out"));
  }

  /** Such as behind a balancer whose gateways all start: nothing was sent, so nothing was done. */
  @Test
  void aConnectionThatEndsBeforeThereIsTlsIsTriedAgain() throws Exception {
    AtomicInteger tried = new AtomicInteger();
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> closeEach(server));
      CoatcheckClient alone =
          CoatcheckClient.builder(URI.create("https://127.0.0.1:" + server.getLocalPort()))
              .apiKey("none")
              .triesMax(3)
              .listener((operation, status, tries, took) -> tried.set(tries))
              .build();

      assertThatThrownBy(() -> alone.mint(Charge.class))
          .isInstanceOfSatisfying(
              CoatcheckException.class,
              e -> {
                assertThat(e.code()).isEqualTo("unreachable");
                assertThat(e.problem().isTemporary()).isTrue();
                assertThat(e.problem().mayBeDone()).isFalse();
              });
    }
    assertThat(tried).hasValue(3);
  }

  /** Reads what a client says first, so that the connection ends and isn't reset. */
  private static void closeEach(ServerSocket server) {
    while (!server.isClosed()) {
      try (Socket socket = server.accept()) {
        socket.getInputStream().read(new byte[16_384]);
      } catch (IOException closed) {
        // The test has ended, or the client was first.
      }
    }
  }

  @Test
  void anAnswerThatDoesNotEndIsNotKept() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.startVirtualThread(() -> answerWithMiB(server, 128));

      assertThatThrownBy(
              () ->
                  CoatcheckClient.builder(URI.create("http://127.0.0.1:" + server.getLocalPort()))
                      .deadline(Duration.ofSeconds(60))
                      .triesMax(1)
                      .build()
                      .call(GatewayRequest.of("GET", "/v1/types")))
          .isInstanceOfSatisfying(
              CoatcheckException.class,
              failed -> assertThat(failed.code()).isEqualTo(Problem.BROKEN_OFF))
          .hasMessageContaining("longer than");
    }
  }

  private static void answerWithMiB(ServerSocket server, int count) {
    try (Socket connection = server.accept()) {
      OutputStream answer = connection.getOutputStream();
      answer.write(
          "HTTP/1.1 200 OK\r\nRequest-Id: req_1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      for (int i = 0; i < count; i++) {
        answer.write(new byte[1024 * 1024]);
      }
    } catch (IOException brokenOff) {
      // by the client
    }
  }

  private CoatcheckClient.Builder impatient() {
    return CoatcheckClient.builder(proxy.uri())
        .apiKey(GATEWAY.key())
        .deadline(Duration.ofSeconds(2));
  }

  @Test
  void aMintWhoseAnswerIsLostIsDoneOnce() {
    long before = GATEWAY.count("select count(*) from coatcheck.public_id");
    proxy.next(Fault.LOST_ANSWER);

    Minted<Charge> minted = client.mint(Charge.class);

    assertThat(proxy.seen()).isGreaterThanOrEqualTo(2);
    assertThat(GATEWAY.count("select count(*) from coatcheck.public_id")).isEqualTo(before + 1);
    assertThat(client.resolve(minted.mapping().id())).isEqualTo(new Found<>(minted.mapping()));

    proxy.next(Fault.LOST_ANSWER);
    assertThat(client.mintAll(Charge.class, 3)).hasSize(3);
    assertThat(GATEWAY.count("select count(*) from coatcheck.public_id")).isEqualTo(before + 4);
  }

  /** As by a process that ended before it stored them. */
  @Test
  void aListThatIsSentAgainUnderItsKeyIsMintedOnce() {
    List<MintRequest<Charge>> charges = Collections.nCopies(1_500, MintRequest.of(Charge.class));
    long before = GATEWAY.count("select count(*) from coatcheck.public_id");

    List<MintResult<Charge>> first = client.mintAll(charges, "import-\"7\"");
    List<MintResult<Charge>> again = client().mintAll(charges, "import-\"7\"");

    assertThat(first).hasSize(1_500).doesNotHaveDuplicates().isEqualTo(again);
    assertThat(GATEWAY.count("select count(*) from coatcheck.public_id")).isEqualTo(before + 1_500);

    List<MintResult<Charge>> few = client.mintAll(charges.subList(0, 3), "import-8");
    assertThat(client.mintAll(charges.subList(0, 3), "import-8")).isEqualTo(few);
    assertThat(client.mintAll(charges.subList(0, 3), "import-9")).doesNotContainAnyElementsOf(few);
  }

  @Test
  void anIdempotencyKeyMayHaveAnyVisibleCharacter() {
    MintRequest<Charge> charge = MintRequest.of(Charge.class);
    List<String> keys =
        List.of(
            "once-c",
            "\"once-c\"",
            "once\\c",
            "once\\\\c",
            "once\"c",
            "once\\\"c",
            "\"".repeat(126));

    List<Mapping<Charge>> first =
        keys.stream().map(key -> client.mint(charge, key).mapping()).toList();

    assertThat(first).doesNotHaveDuplicates();
    assertThat(keys)
        .extracting(key -> client.mint(charge, key).mapping())
        .containsExactlyElementsOf(first);
  }

  /** Such as a proxy, which lost the gateway after it had sent the request. */
  @Test
  void a503ThatMayBeDoneIsSentAgainOnlyIfThatDoesNoHarm() {
    byte[] body = "{\"type\":\"charge\"}".getBytes(StandardCharsets.UTF_8);
    GatewayRequest mint = GatewayRequest.of("POST", "/v1/ids").withBody("application/json", body);

    proxy.next(Fault.BUSY);
    assertThat(client.call(mint).status()).isEqualTo(503);
    assertThat(proxy.seen()).isEqualTo(1);
    proxy.next(Fault.BUSY);
    assertThat(client.call(mint.withIdempotencyKey("once-503")).status()).isEqualTo(201);
    assertThat(proxy.seen()).isEqualTo(2);
  }

  @Test
  void aRefusedItemOfABatchHasItsProblem() {
    List<MintResult<Charge>> results =
        client.mintAll(
            List.of(
                MintRequest.of(Charge.class),
                MintRequest.of(Key.of(Charge.class, UUID.randomUUID()))));

    assertThat(results.get(0)).isInstanceOf(Minted.class);
    if (!(results.get(1) instanceof MintResult.Refused<Charge> refused)) {
      throw new AssertionError(results);
    }
    assertThat(refused.problem().status()).isEqualTo(400);
    assertThat(refused.problem().code()).isEqualTo("key_malformed");
    assertThat(refused.problem().requestId()).isPresent();
  }

  @Test
  void aNamespaceThatNoBodyTakesHarmsNoOtherItem() {
    MintRequest<Charge> charge = MintRequest.of(Charge.class);

    List<MintResult<Charge>> results =
        client.mintAll(
            List.of(
                charge.withClientId(UUID.randomUUID(), "a\0b"),
                charge.withClientId(UUID.randomUUID(), "a\uD83D"),
                charge.withClientId(UUID.randomUUID(), "a b"),
                charge));

    assertThat(results.subList(0, 3))
        .allSatisfy(
            result ->
                assertThat(result)
                    .isInstanceOfSatisfying(
                        MintResult.Refused.class,
                        refused ->
                            assertThat(refused.problem().code()).isEqualTo("field_invalid")));
    assertThat(results.get(3)).isInstanceOf(Minted.class);
  }

  @Test
  void whatWasMintedIsNotLostWhereTheApiKeyIsMissingHalfway() {
    AtomicInteger asked = new AtomicInteger();
    CoatcheckClient forgetful =
        CoatcheckClient.builder(proxy.uri())
            .apiKey(
                () -> {
                  if (asked.incrementAndGet() > 1) {
                    throw new IllegalStateException("no vault");
                  }
                  return GATEWAY.key();
                })
            .build();

    List<MintResult<User>> results = forgetful.mintAll(User.class, 2_500);

    assertThat(results.subList(0, 1_000)).allMatch(Minted.class::isInstance);
    assertThat(results.subList(1_000, 2_500))
        .hasSize(1_500)
        .allSatisfy(
            result ->
                assertThat(result)
                    .isInstanceOfSatisfying(
                        MintResult.Refused.class,
                        refused -> {
                          assertThat(refused.problem().code()).isEqualTo(Problem.FAILED);
                          assertThat(refused.problem().mayBeDone()).isTrue();
                        }));
    assertThatThrownBy(() -> forgetful.mintAll(User.class, 1)).hasMessage("no vault");
  }

  @Test
  void aProblemHasItsStatusItsCodeAndTheIdOfTheRequest() {
    CoatcheckClient stranger = CoatcheckClient.builder(proxy.uri()).apiKey("sk_stranger").build();

    assertThatThrownBy(() -> stranger.mint(User.class))
        .isInstanceOfSatisfying(
            CoatcheckException.class,
            e -> {
              assertThat(e.status()).isEqualTo(401);
              assertThat(e.code()).isEqualTo("unauthenticated");
              assertThat(e.requestId().orElseThrow()).startsWith("req_");
            });
  }

  /** Such as one that was read with the end of its line. */
  @Test
  void anApiKeyThatNoHeaderTakesIsRefusedAndNotTold() {
    CoatcheckClient.Builder builder = CoatcheckClient.builder(proxy.uri());
    String key = GATEWAY.key() + "\n";

    assertThatThrownBy(() -> builder.apiKey(key)).satisfies(refused -> isNotToldIn(refused));
    assertThatThrownBy(() -> builder.apiKey(() -> key).build().mint(Charge.class))
        .satisfies(refused -> isNotToldIn(refused));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://shop:secret@127.0.0.1:8080",
        "http://127.0.0.1:8080?key=secret",
        "http://127.0.0.1:8080/#secret",
        "ftp://127.0.0.1/secret",
        "http:///secret"
      })
  void aUrlThatIsNoGatewaysIsRefusedAndNotTold(String url) {
    assertThatThrownBy(() -> CoatcheckClient.builder(URI.create(url)))
        .isInstanceOf(IllegalArgumentException.class)
        .extracting(Throwable::getMessage)
        .asString()
        .doesNotContain("secret");
  }

  /** The JDK's client sends the API key on. */
  @Test
  void anHttpClientThatFollowsRedirectsIsRefused() {
    HttpClient following =
        HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();

    assertThatThrownBy(() -> CoatcheckClient.builder(proxy.uri()).httpClient(following))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("redirects");
  }

  @Test
  void whatNoCallCanHaveIsRefusedBeforeIt() {
    CoatcheckClient.Builder builder = CoatcheckClient.builder(proxy.uri());

    assertThatThrownBy(() -> builder.deadline(Duration.ZERO)).hasMessageContaining("PT0S");
    assertThatThrownBy(() -> builder.triesMax(0)).hasMessageContaining("0 times");
    assertThatThrownBy(() -> GatewayRequest.of("GET", ".shop.example/v1/types"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("slash");
  }

  private static void isNotToldIn(Throwable refused) {
    assertThat(refused)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("API key");
    assertThat(refused.getMessage()).doesNotContain(GATEWAY.key());
  }

  @Test
  void aClassThatNamesAnotherTypeIsRefused() {
    assertThatThrownBy(() -> client.mint(Mistaken.class))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Correct its @PublicIdType");
  }

  @Test
  void legacyIdsAndClientIdsFindTheirPublicId() {
    UUID made = UUID.randomUUID();
    MintRequest<Charge> request =
        MintRequest.of(Charge.class).withLegacyId(4711).withClientId(made, "channel-42");
    Mapping<Charge> charge = client.mint(request).mapping();

    assertThat(client.mint(request).isNew()).isFalse();
    assertThat(charge.legacyId()).contains(4711L);
    assertThat(client.legacy(Charge.class, 4711).current()).contains(charge.id());
    assertThat(client.legacyAll(Charge.class, List.of(4712L, 4711L)))
        .extracting(Resolution::current)
        .containsExactly(Optional.empty(), Optional.of(charge.id()));
    Alias alias = Alias.ofClientId(made, "channel-42");
    assertThat(client.lookup(Charge.class, alias).current()).contains(charge.id());
    assertThat(client.addAlias(charge.id(), Alias.ofLegacyId(4713))).isTrue();
    assertThat(client.addAlias(charge.id(), Alias.ofLegacyId(4713))).isFalse();
    client.removeAlias(charge.id(), Alias.ofLegacyId(4713));
    assertThat(client.legacy(Charge.class, 4713)).isEqualTo(new Unknown<>());
  }

  @Test
  void urlsAreTranslatedBothWays() {
    Mapping<Charge> charge = client.mint(Charge.class).mapping();
    String url = "/charges/" + charge.id() + "?expand=customer";
    String resolved = "/charges/" + charge.key() + "?expand=customer";

    assertThat(client.resolveUrl(url).resolved()).isEqualTo(resolved);
    assertThat(client.publishUrl(resolved, "/charges/{charge}")).isEqualTo(url);
    assertThat(client.resolveUrls(List.of(url, "//no")))
        .satisfiesExactly(
            first ->
                assertThat(first)
                    .isInstanceOfSatisfying(
                        UrlResult.Resolved.class,
                        ok -> assertThat(ok.url().resolved()).isEqualTo(resolved)),
            second -> assertThat(second).isInstanceOf(UrlResult.Refused.class));
  }

  @Test
  void aUrlThatNoBodyTakesHarmsNoOther() {
    String url = "/charges/" + client.mint(Charge.class).mapping().id();

    List<UrlResult> results =
        client.resolveUrls(
            List.of(
                "/a\0b",
                url,
                "/a\uD83D",
                "/\uDE00\uD83D",
                "/\uD83D\uDE00",
                "/" + "a".repeat(1_100_000),
                url));

    assertThat(results)
        .hasSize(7)
        .extracting(result -> result instanceof UrlResult.Refused no ? no.problem().code() : "")
        .containsExactly(
            "url_invalid", "", "url_invalid", "url_invalid", "url_invalid", "url_invalid", "");
    assertThatThrownBy(() -> client.resolveUrl("/a\uD83D"))
        .isInstanceOfSatisfying(
            CoatcheckException.class, failed -> assertThat(failed.code()).isEqualTo("url_invalid"));
  }

  @Test
  void aUrlIsResolvedHoweverMuchItsEncodingGrows() {
    Mapping<Charge> charge = client.mint(Charge.class).mapping();
    String rest = "?next=" + "/".repeat(4_000);

    assertThat(client.resolveUrl("/charges/" + charge.id() + rest).resolved())
        .isEqualTo("/charges/" + charge.key() + rest);
    assertThatThrownBy(() -> client.resolveUrl("/charges/ch_00000000000000000000002B" + rest))
        .isInstanceOfSatisfying(
            CoatcheckException.class,
            failed -> {
              assertThat(failed.status()).isEqualTo(404);
              assertThat(failed.code()).isEqualTo("public_id_unknown");
              assertThat(failed.problem().requestId()).isPresent();
            });
  }

  /** A call takes 1 MiB. */
  @Test
  void longUrlsGoInSeveralCalls() {
    Mapping<Charge> charge = client.mint(Charge.class).mapping();
    String rest = "?note=" + "x".repeat(4_000);
    List<String> urls = Collections.nCopies(400, "/charges/" + charge.id() + rest);
    proxy.seen();

    assertThat(client.resolveUrls(urls))
        .hasSize(400)
        .allSatisfy(
            result ->
                assertThat(result)
                    .isInstanceOfSatisfying(
                        UrlResult.Resolved.class,
                        ok ->
                            assertThat(ok.url().resolved())
                                .isEqualTo("/charges/" + charge.key() + rest)));
    assertThat(proxy.seen()).isEqualTo(2);
  }

  @Test
  void keysComeByThemselves() {
    assertThat(client.snowflakes("default", 3)).hasSize(3).isSorted().doesNotHaveDuplicates();
    assertThat(client.uuids(2)).hasSize(2).allMatch(uuid -> uuid.version() == 7);
  }

  private CoatcheckClient client() {
    return CoatcheckClient.builder(proxy.uri())
        .apiKey(GATEWAY.key())
        .deadline(Duration.ofSeconds(30))
        .listener((operation, status, tries, took) -> calls.add(operation + " " + status))
        .build();
  }
}
