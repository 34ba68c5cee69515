package dev.coatcheck.test;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.client.Alias;
import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.client.CoatcheckException;
import dev.coatcheck.client.Collector;
import dev.coatcheck.client.GatewayAnswer;
import dev.coatcheck.client.GatewayRequest;
import dev.coatcheck.client.MintRequest;
import dev.coatcheck.client.MintResult;
import dev.coatcheck.client.MintResult.Minted;
import dev.coatcheck.client.Problem;
import dev.coatcheck.client.Resolution;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import dev.coatcheck.id.PublicIdType;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The fake keeps the contract: it and the gateway that {@code COATCHECK_URL} and {@code
 * COATCHECK_API_KEY} name give the same answers. {@code ./mvnw verify -Pclients} starts one.
 */
class FakeGatewayTest {
  private static final Pattern ID = Pattern.compile("(fakep|faken)_[0-9A-Za-z]{24}");
  private static final Pattern TIME = Pattern.compile("\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z");
  private static final UUID CLIENT_ID = UUID.fromString("0b0fdb0d-6d9a-4b57-9c76-4b1d6e4f2a10");

  @PublicIdType(prefix = "fakep", name = "fake_parcel")
  private static final class Parcel {}

  @PublicIdType(prefix = "faken")
  private static final class Note {}

  @Test
  void itGivesTheAnswersOfAGateway() {
    assumeTrue(System.getenv("COATCHECK_URL") != null, "COATCHECK_URL names no gateway");
    CoatcheckClient real =
        CoatcheckClient.builder(URI.create(System.getenv("COATCHECK_URL")))
            .apiKey(System.getenv("COATCHECK_API_KEY"))
            .build();
    put(real, "fake_parcel", "fakep", "bigint", "snowflake");
    put(real, "faken", "faken", "uuid", "uuidv7");
    long base = System.currentTimeMillis() << 20;

    assertThat(new Script(fake().client(), base).told)
        .isEqualTo(new Script(real, base).told)
        .hasSizeGreaterThan(40);
  }

  private static void put(
      CoatcheckClient gateway, String name, String prefix, String key, String generate) {
    String json =
        "{\"prefix\":\"%s\",\"key\":\"%s\",\"generate\":\"%s\"}".formatted(prefix, key, generate);
    GatewayRequest request =
        GatewayRequest.of("PUT", "/v1/types/" + name)
            .withBody("application/json", json.getBytes(UTF_8));
    assertThat(gateway.call(request).status()).isIn(200, 201);
  }

  private static FakeGateway fake() {
    return new FakeGateway(Parcel.class).withUuids(Note.class);
  }

  @Test
  void itNeedsNoGateway() {
    assertThat(new Script(fake().client(), 1).told).hasSizeGreaterThan(40);
  }

  @Test
  void anOutageIsOneOfEachCall() {
    FakeGateway gateway = fake();
    CoatcheckClient client = gateway.client();
    PublicId<Parcel> id = client.mint(Parcel.class).mapping().id();

    gateway.setReachable(false);
    assertThatThrownBy(() -> client.resolve(id))
        .isInstanceOfSatisfying(
            CoatcheckException.class,
            failed -> assertThat(failed.code()).isEqualTo(Problem.UNREACHABLE));

    gateway.setReachable(true);
    assertThat(client.resolve(id)).isInstanceOf(Resolution.Found.class);
  }

  @Test
  void whatItCantDoItSays() {
    assertThatThrownBy(() -> fake().client().uuids(3))
        .isInstanceOfSatisfying(
            CoatcheckException.class,
            failed -> assertThat(failed.code()).isEqualTo("not_in_the_fake"));
  }

  /** Calls, and what was told: the same IDs have the same number. */
  private static final class Script {
    final List<String> told = new ArrayList<>();
    private final Map<String, String> numbers = new LinkedHashMap<>();
    private final CoatcheckClient client;
    private final long base;

    Script(CoatcheckClient client, long base) {
      this.client = client;
      this.base = base;
      mints();
      numbers();
      looks();
      aliases();
      ends();
      batches();
      repetitions();
    }

    private Key<Parcel> key(int number) {
      return Key.of(Parcel.class, base + number);
    }

    private PublicId<Parcel> minted(int number) {
      return client.mint(MintRequest.of(key(number))).mapping().id();
    }

    private void mints() {
      tell(() -> client.mint(MintRequest.of(key(1))));
      tell(() -> client.mint(MintRequest.of(key(1))));
      tell(() -> client.mint(MintRequest.of(key(2)).withLegacyId(base + 102)));
      tell(() -> client.mint(MintRequest.of(Parcel.class).withLegacyId(base + 102)));
      tell(() -> client.mint(MintRequest.of(key(1)).withLegacyId(base + 101)));
      tell(() -> client.mint(MintRequest.of(key(3)).withLegacyId(base + 101)));
      tell(() -> client.mint(MintRequest.of(key(4)).withClientId(CLIENT_ID, "channel-" + base)));
      tell(() -> client.mint(MintRequest.of(key(5)).withClientId(CLIENT_ID, "channel-" + base)));
      tell(() -> client.mint(Note.class).isNew());
      tell(() -> client.mint(Key.of(Note.class, UUID.randomUUID()).type()).isNew());
      tell(() -> client.mintAll(Parcel.class, 3).size());
    }

    private void numbers() {
      tell(() -> client.mint(MintRequest.of(Key.of(Parcel.class, 0))).mapping().key());
      tell(() -> client.lookup(Key.of(Parcel.class, 0)).key());
      for (long number : new long[] {0, -1}) {
        Alias alias = Alias.ofLegacyId(number);
        tell(() -> client.mint(MintRequest.of(key(30)).withLegacyId(number)));
        tell(() -> client.legacy(Parcel.class, number));
        client
            .legacyAll(Parcel.class, List.of(number))
            .forEach(result -> tell(() -> ((Resolution.Refused<Parcel>) result).problem().code()));
        tell(() -> client.lookup(Parcel.class, alias));
        tell(() -> client.addAlias(minted(31), alias));
        tell(() -> done(() -> client.removeAlias(minted(31), alias)));
      }
    }

    /** Each call of a gateway has keys of its own, so that the script can be told again. */
    private void repetitions() {
      tell(
          () ->
              client
                  .mint(MintRequest.of(Note.class), "a" + base)
                  .mapping()
                  .id()
                  .equals(client.mint(MintRequest.of(Note.class), "a" + base).mapping().id()));
      tell(() -> client.mint(MintRequest.of(Parcel.class), "a" + base));
      tell(() -> client.mint(MintRequest.of(key(8)), "a" + base));
      client.mint(MintRequest.of(key(32)).withLegacyId(base + 132));
      MintRequest<Parcel> refused = MintRequest.of(key(33)).withLegacyId(base + 132);
      tell(() -> client.mint(refused, "b" + base));
      client.removeAlias(minted(32), Alias.ofLegacyId(base + 132));
      tell(() -> client.mint(refused, "b" + base));
      MintRequest<Parcel> malformed = MintRequest.of(key(34)).withLegacyId(0);
      tell(() -> client.mint(malformed, "c" + base));
      tell(() -> client.mint(MintRequest.of(key(34)), "c" + base));
      GatewayRequest batch = posted("/v1/ids/batch", "{\"type\":\"faken\",\"count\":2}");
      tell(() -> isReplayed(batch.withIdempotencyKey("d" + base)));
      tell(() -> isReplayed(batch.withIdempotencyKey("d" + base)));
      tell(() -> client.call(batch.withIdempotencyKey("a" + base)).status());
      GatewayRequest end = posted("/v1/ids/" + minted(35) + "/revoke", "{}");
      tell(() -> isReplayed(end.withIdempotencyKey("e" + base)));
      tell(() -> isReplayed(end.withIdempotencyKey("e" + base)));
      GatewayRequest question = posted("/v1/ids/resolve", "{\"ids\":[\"" + minted(36) + "\"]}");
      tell(() -> isReplayed(question.withIdempotencyKey("a" + base)));
    }

    private static GatewayRequest posted(String path, String json) {
      return GatewayRequest.of("POST", path).withBody("application/json", json.getBytes(UTF_8));
    }

    private String isReplayed(GatewayRequest request) {
      GatewayAnswer answer = client.call(request);
      return answer.status() + " " + answer.header("Idempotent-Replayed");
    }

    private void looks() {
      tell(() -> client.lookup(key(2)));
      tell(() -> client.lookup(key(99)));
      tell(() -> client.legacy(Parcel.class, base + 102));
      tell(() -> client.legacy(Parcel.class, base + 199));
      tell(() -> client.lookup(Parcel.class, Alias.ofLegacyId(base + 101)));
      tell(() -> client.lookup(Parcel.class, Alias.ofClientId(CLIENT_ID, "channel-" + base)));
      tell(() -> client.lookup(Parcel.class, Alias.ofClientId(CLIENT_ID, "other")));
      tell(() -> client.resolve(PublicId.of(Parcel.class, minted(1).toString())));
      tell(() -> client.resolve(Parcel.class, "no public ID"));
      tell(() -> client.resolve(Note.class, minted(1).toString()));
      tell(() -> client.resolve(PublicId.of(Parcel.class, UNKNOWN)));
    }

    private void aliases() {
      PublicId<Parcel> id = minted(6);
      tell(() -> client.addAlias(id, Alias.ofLegacyId(base + 106)));
      tell(() -> client.addAlias(id, Alias.ofLegacyId(base + 106)));
      tell(() -> client.addAlias(minted(7), Alias.ofLegacyId(base + 106)));
      tell(() -> client.legacy(Parcel.class, base + 106));
      client.removeAlias(id, Alias.ofLegacyId(base + 106));
      client.removeAlias(id, Alias.ofLegacyId(base + 106));
      tell(() -> client.legacy(Parcel.class, base + 106));
    }

    private void ends() {
      PublicId<Parcel> id = minted(8);
      client.revoke(id, "a test");
      client.revoke(id, "another reason");
      tell(() -> client.resolve(id));
      tell(() -> client.lookup(key(8)));
      client.mint(MintRequest.of(key(13)).withLegacyId(base + 113));
      client.merge(minted(13), minted(14));
      tell(() -> client.legacy(Parcel.class, base + 113));
      client.revoke(minted(14), "gone");
      tell(() -> ended(() -> client.legacy(Parcel.class, base + 113)));
      tell(() -> client.lookup(Parcel.class, Alias.ofLegacyId(base + 113)));
      tell(() -> client.mint(MintRequest.of(key(8))));
      tell(() -> client.addAlias(id, Alias.ofLegacyId(base + 108)));
      PublicId<Parcel> merged = minted(9);
      client.merge(merged, minted(10));
      tell(() -> client.resolve(merged));
      tell(() -> client.lookup(key(9)));
      tell(() -> done(() -> client.revoke(merged, null)));
      tell(() -> done(() -> client.merge(merged, minted(11))));
      tell(() -> done(() -> client.merge(id, minted(11))));
      tell(() -> done(() -> client.merge(merged, minted(10))));
      tell(() -> done(() -> client.merge(minted(10), minted(10))));
      tell(() -> done(() -> client.merge(minted(10), merged)));
      tell(() -> done(() -> client.merge(minted(11), id)));
      tell(() -> done(() -> client.merge(PublicId.of(Parcel.class, UNKNOWN), minted(11))));
      tell(() -> done(() -> client.merge(minted(11), PublicId.of(Parcel.class, UNKNOWN))));
      client.merge(minted(10), minted(12));
      tell(() -> client.resolve(merged));
      client.revoke(minted(12), null);
      tell(() -> ended(() -> client.resolve(merged)));
    }

    private static String done(Runnable end) {
      end.run();
      return "done";
    }

    /** A gateway may know a merged one without the end of its survivor for two seconds. */
    private Resolution<Parcel> ended(Supplier<Resolution<Parcel>> ask) {
      Resolution<Parcel> answer = ask.get();
      for (int i = 0; i < 100 && answer instanceof Resolution.Merged; i++) {
        LockSupport.parkNanos(50_000_000);
        answer = ask.get();
      }
      return answer;
    }

    private void batches() {
      List<MintResult<Parcel>> mints =
          client.mintAll(List.of(MintRequest.of(key(20)), MintRequest.of(key(8))));
      mints.forEach(result -> tell(() -> result));
      Minted<Parcel> first = (Minted<Parcel>) mints.get(0);
      client
          .resolveAll(List.of(first.mapping().id(), PublicId.of(Parcel.class, UNKNOWN)))
          .forEach(result -> tell(() -> result));
      client
          .lookupAll(List.of(key(20), key(99), key(8), key(9)))
          .forEach(result -> tell(() -> result));
      client
          .legacyAll(Parcel.class, List.of(base + 102, base + 199))
          .forEach(result -> tell(() -> result));
      Collector collector = client.collector();
      var pending = collector.lookup(key(20));
      tell(() -> pending.get());
    }

    private static final String UNKNOWN = unknown();

    private static String unknown() {
      return new dev.coatcheck.core.id.PublicId(
              new dev.coatcheck.core.id.Prefix("fakep"), new dev.coatcheck.core.id.Token(0, 7))
          .toString();
    }

    private void tell(Supplier<Object> call) {
      told.add(called(call));
    }

    private String called(Supplier<Object> call) {
      String text;
      try {
        text = call.get().toString();
      } catch (CoatcheckException refused) {
        text = refused.status() + " " + refused.code();
      }
      // The words of a problem, and the ID of a request, are no part of the contract.
      return TIME.matcher(ID.matcher(text).replaceAll(id -> number(id.group())))
          .replaceAll("TIME")
          .replaceAll("detail=[^\\]]*\\]", "]");
    }

    private String number(String id) {
      return numbers.computeIfAbsent(id, next -> "ID" + numbers.size());
    }
  }
}
