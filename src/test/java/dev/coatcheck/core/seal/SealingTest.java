package dev.coatcheck.core.seal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.seal.Sealing.Era;
import dev.coatcheck.core.seal.Sealing.Opened;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class SealingTest {
  private static final SnowflakeLayout LAYOUT = SnowflakeLayout.DEFAULT;
  private static final Prefix MESSAGE = new Prefix("msg");
  private static final Instant FROM = Instant.parse("2024-01-01T00:00:00Z");
  private static final Instant SECOND = Instant.parse("2025-01-01T00:00:00Z");
  private static final Path VECTORS = Path.of("src/test/resources/vectors/sealed");

  private static final Sealing SEALING = sealing(TestSealKeys.ALL, MESSAGE);

  @TempDir Path folder;

  private static Sealing sealing(SealKeys keys, Prefix prefix) {
    return new Sealing(
        prefix,
        LAYOUT,
        FROM,
        List.of(
            era(keys, Optional.empty(), TestSealKeys.FIRST),
            era(keys, Optional.of(SECOND), TestSealKeys.SECOND)));
  }

  private static Era era(SealKeys keys, Optional<Instant> startsAt, String fingerprint) {
    return new Era(startsAt, fingerprint, keys.withFingerprint(fingerprint), Optional.empty());
  }

  private static long key(String time) {
    return LAYOUT.key(LAYOUT.position(Instant.parse(time).toEpochMilli()), 5);
  }

  private static Token sealed(long key) {
    return SEALING.seal(key).orElseThrow();
  }

  @Test
  void aKeyHasOneIdAndTheIdThatKey() {
    Set<Token> tokens = new HashSet<>();
    Random random = new Random(4);
    for (int i = 0; i < 10_000; i++) {
      long key = key("2024-03-01T00:00:00Z") + random.nextLong(1L << 58);
      tokens.add(sealed(key));

      assertThat(SEALING.open(sealed(key))).isEqualTo(new Opened.OfKey(key));
    }
    assertThat(tokens).hasSize(10_000);
  }

  @Test
  void aKeyIsSealedFromAMomentOn() {
    long first = leastKey();

    assertThat(SEALING.timeOf(first)).isEqualTo(FROM);
    assertThat(SEALING.seals(first)).isTrue();
    assertThat(SEALING.seals(first - 1)).isFalse();
    assertThat(SEALING.seals(Long.MAX_VALUE)).isTrue();
    assertThat(SEALING.seals(-1)).isFalse();
    assertThat(SEALING.seals(Long.MIN_VALUE)).isFalse();
    assertThatThrownBy(() -> SEALING.seal(first - 1)).hasMessageContaining("not sealed");
    assertThat(SEALING.hasStoredKeys()).isTrue();
    assertThat(new Sealing(MESSAGE, LAYOUT, Instant.EPOCH, SEALING.eras()).hasStoredKeys())
        .isFalse();
    assertThat(new Sealing(MESSAGE, LAYOUT, Instant.EPOCH, SEALING.eras()).spans().getFirst())
        .extracting(Sealing.Span::first)
        .isEqualTo(0L);
  }

  private static long leastKey() {
    return SEALING.spans().getFirst().first();
  }

  @Test
  void aClosedEraSealsAndOpensNothingAndNeedsNoSealKey() {
    long first = key("2024-06-01T00:00:00Z");
    long second = key("2025-06-01T00:00:00Z");
    Sealing closed =
        new Sealing(
            MESSAGE,
            LAYOUT,
            FROM,
            List.of(
                new Era(
                    Optional.empty(),
                    TestSealKeys.FIRST,
                    SEALING.eras().getFirst().key(),
                    Optional.of(SECOND)),
                SEALING.eras().getLast()));

    assertThat(closed.open(sealed(first))).isEqualTo(new Opened.NotSealed());
    assertThat(closed.open(sealed(second))).isEqualTo(new Opened.OfKey(second));
    assertThat(closed.seals(first)).isFalse();
    assertThat(closed.isOfClosedEra(first)).isTrue();
    assertThat(closed.isOfClosedEra(second)).isFalse();
    assertThat(closed.closedEraOf(sealed(first))).contains(closed.eras().getFirst());
    assertThat(closed.closedEraOf(sealed(second))).isEmpty();
    assertThat(closed.hasStoredKeys()).isTrue();
    assertThat(closed.sealsAt(SECOND.minusMillis(1))).isFalse();
    assertThat(closed.sealsAt(SECOND)).isTrue();
    assertThat(closed.spans())
        .containsExactly(new Sealing.Span(key("2025-01-01T00:00:00Z") >> 22 << 22, Long.MAX_VALUE));
    assertThat(SEALING.spans()).hasSize(2);
    assertThat(SEALING.spans().getFirst().last() + 1).isEqualTo(SEALING.spans().getLast().first());
  }

  /** What the seal key makes of a key that it may not seal is no ID of that key. */
  @Test
  void anIdOfAnotherEraTypeOrTimeNeverOpens() {
    SealKey first = TestSealKeys.ALL.withFingerprint(TestSealKeys.FIRST).orElseThrow();
    long tag = first.decipher(sealed(key("2024-06-01T00:00:00Z"))).low();
    long late = key("2025-06-01T00:00:00Z");
    long early = key("2023-06-01T00:00:00Z");

    assertThat(SEALING.open(sealed(late))).isEqualTo(new Opened.OfKey(late));
    assertThat(SEALING.open(first.encipher(new Token(late, tag))))
        .isInstanceOf(Opened.NotSealed.class);
    assertThat(SEALING.open(first.encipher(new Token(early, tag))))
        .isInstanceOf(Opened.NotSealed.class);
    assertThat(SEALING.open(first.encipher(new Token(-1, tag))))
        .isInstanceOf(Opened.NotSealed.class);
    assertThat(sealing(TestSealKeys.ALL, new Prefix("ch")).open(sealed(late)))
        .isInstanceOf(Opened.NotSealed.class);
  }

  @Test
  void everyBitOfAnIdCounts() {
    Token token = sealed(key("2024-06-01T00:00:00Z"));

    for (int bit = 0; bit < 64; bit++) {
      assertThat(SEALING.open(new Token(token.high() ^ 1L << bit, token.low())))
          .isInstanceOf(Opened.NotSealed.class);
      assertThat(SEALING.open(new Token(token.high(), token.low() ^ 1L << bit)))
          .isInstanceOf(Opened.NotSealed.class);
    }
  }

  /** With a tag of 16 bits, because nobody could wait for one of 64. */
  @Test
  void aMadeUpIdOpensAsOftenAsItsTagIsShort() {
    requireFewOpen(1_000_000);
  }

  @Test
  @Tag("faults")
  void ofTenMillionMadeUpIdsAsManyOpenAsTheTagSays() {
    requireFewOpen(10_000_000);
  }

  private static void requireFewOpen(int tries) {
    Sealing cut = new Sealing(MESSAGE, LAYOUT, Instant.EPOCH, SEALING.eras().subList(0, 1), 0xffff);
    Random random = new Random(11);
    int opened = 0;
    for (int i = 0; i < tries; i++) {
      if (cut.open(new Token(random.nextLong(), random.nextLong())) instanceof Opened.OfKey) {
        opened++;
      }
    }
    double expected = tries / 65_536.0 / 2; // half of all keys are negative
    assertThat((double) opened)
        .isBetween(expected - 3 * Math.sqrt(expected), expected + 3 * Math.sqrt(expected));
  }

  @Test
  void anIdOfAnEraWithoutItsKeyIsNeitherMadeNorTakenForUnknown() {
    Sealing lacking = sealing(TestSealKeys.withoutSecond(), MESSAGE);
    long first = key("2024-06-01T00:00:00Z");
    long second = key("2025-06-01T00:00:00Z");

    assertThat(lacking.seal(second)).isEmpty();
    assertThat(lacking.open(sealed(second))).isEqualTo(new Opened.KeyMissing(TestSealKeys.SECOND));
    assertThat(lacking.open(new Token(1, 2))).isEqualTo(new Opened.KeyMissing(TestSealKeys.SECOND));
    assertThat(lacking.open(sealed(first))).isEqualTo(new Opened.OfKey(first));
    assertThat(lacking.erasWithoutKey())
        .extracting(Era::fingerprint)
        .containsExactly(TestSealKeys.SECOND);
  }

  @Test
  void manyThreadsGetTheSameIds() throws Exception {
    List<Token> alone = IntStream.range(0, 2_000).mapToObj(i -> sealed(leastKey() + i)).toList();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<List<Token>>> all = new ArrayList<>();
      for (int i = 0; i < 32; i++) {
        all.add(
            threads.submit(
                () -> IntStream.range(0, 2_000).mapToObj(n -> sealed(leastKey() + n)).toList()));
      }
      for (Future<List<Token>> each : all) {
        assertThat(each.get()).isEqualTo(alone);
      }
    }
  }

  /** Whatever the order of the eras' creation; {@code check.py} beside them computes the same. */
  @Test
  void theVectorsHold() throws Exception {
    JsonNode vectors = new JsonMapper().readTree(Files.readString(VECTORS.resolve("sealed.json")));

    assertThat(vectors.at("/ids")).hasSizeGreaterThan(10);
    for (JsonNode vector : vectors.at("/ids")) {
      SealKey sealKey = SealKey.parse(vector.path("seal_key").stringValue()).orElseThrow();
      assertThat(sealKey.fingerprint()).isEqualTo(vector.path("fingerprint").stringValue());
      Prefix prefix = new Prefix(vector.path("prefix").stringValue());
      Sealing sealing =
          new Sealing(
              prefix,
              LAYOUT,
              Instant.EPOCH,
              List.of(
                  new Era(
                      Optional.empty(),
                      sealKey.fingerprint(),
                      Optional.of(sealKey),
                      Optional.empty())));
      long key = Long.parseLong(vector.path("key").stringValue());
      assertThat(new PublicId(prefix, sealing.seal(key).orElseThrow()))
          .hasToString(vector.path("id").stringValue());
    }
  }

  @Test
  void aFileOfKeysIsReadAndItsFaultsNameTheLineAndNoSecret() throws Exception {
    assertThat(read("# first\n\n" + "a".repeat(64) + "\n" + "b".repeat(64) + "\n", "rw-------"))
        .isInstanceOfSatisfying(
            SealKeys.Parsed.Valid.class,
            valid -> assertThat(valid.keys().fingerprints()).hasSize(2).doesNotHaveDuplicates());
    String canary = "c".repeat(63);
    assertThat(fault(read("a".repeat(64) + "\n" + canary, "rw-------")))
        .contains("line 2")
        .doesNotContain(canary);
    assertThat(fault(read("a".repeat(64), "rw-r-----"))).contains("chmod 600");
    assertThat(fault(read("a".repeat(64), "rw----r--"))).contains("chmod 600");
    assertThat(fault(SealKeys.read(folder.resolve("none"))))
        .contains("can't be read: there is no such file.");
    assertThat(fault(SealKeys.read(folder))).contains("can't be read: Is a directory");
    assertThat(SealKey.parse("A".repeat(64))).isEmpty();
    assertThat(SealKey.parse("a".repeat(64)).orElseThrow().toString()).hasSize(16);
  }

  @Test
  void allFaultyLinesOfAFileOfKeysAreNamedAtOnce() throws Exception {
    assertThat(fault(read("x\n" + "a".repeat(64) + "\n#\nA\n", "rw-------")))
        .startsWith("lines 1, 4 of ")
        .endsWith(" are no seal keys, which are 64 of 0-9 and a-f");
    assertThat(fault(read("x\n".repeat(1_000), "rw-------")))
        .startsWith("lines 1, 2, 3, ")
        .contains(", 20 and 980 more of ");
  }

  /** Else its bytes fill the heap, and the JVM ends without a word about the setting. */
  @Test
  void aFileThatIsTooLongForKeysIsNotRead() throws Exception {
    assertThat(fault(read("#".repeat(257 * 1024), "rw-------"))).contains("more than 262144 bytes");
  }

  private SealKeys.Parsed read(String text, String mode) throws Exception {
    Path file = Files.createTempFile(folder, "seal", ".keys");
    Files.writeString(file, text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    return SealKeys.read(file);
  }

  private static String fault(SealKeys.Parsed parsed) {
    return parsed instanceof SealKeys.Parsed.Faulty(String fault) ? fault : "none";
  }

  @Test
  void aSealingBeginsWithAnEraWithoutAStart() {
    assertThatThrownBy(() -> new Sealing(MESSAGE, LAYOUT, FROM, SEALING.eras().subList(1, 2)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(
            Arrays.asList(
                SEALING.eraOf(key("2024-12-31T23:59:59.999Z")),
                SEALING.eraOf(key("2025-01-01T00:00:00Z"))))
        .isEqualTo(SEALING.eras());
  }
}
