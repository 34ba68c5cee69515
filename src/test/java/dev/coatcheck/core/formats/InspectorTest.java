package dev.coatcheck.core.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.coatcheck.core.formats.Inspector.Inspection;
import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.formats.Reading.Certainty;
import dev.coatcheck.core.formats.Reading.Refusal;
import dev.coatcheck.core.formats.Reading.Reveal;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.scheme.LeasedSnos;
import dev.coatcheck.core.scheme.RocketMqId;
import dev.coatcheck.core.scheme.SnoId;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What the formats themselves publish is read so, and refused so. */
class InspectorTest {
  private static final Instant NOW = Instant.parse("2026-11-22T12:00:00Z");
  private static final long SEED = Long.getLong("seed", System.nanoTime());
  private static final Instant AT = Instant.parse("2026-11-22T12:34:56.789Z");

  static Stream<JsonNode> valid() {
    return vectors("valid.json");
  }

  static Stream<JsonNode> invalid() {
    return vectors("invalid.json");
  }

  @ParameterizedTest
  @MethodSource("valid")
  void readsWhatTheFormatsPublish(JsonNode row) {
    Inspection inspection = inspect(row.path("text").asString());

    assertThat(inspection.candidates())
        .filteredOn(candidate -> candidate.format().equals(row.path("format").asString()))
        .as("%s", inspection)
        .anySatisfy(
            candidate -> {
              if (row.has("time")) {
                assertThat(candidate.time()).contains(Instant.parse(row.path("time").asString()));
                assertThat(candidate.reveals()).contains(Reveal.CREATION_TIME);
              }
              row.path("fields")
                  .properties()
                  .forEach(
                      field ->
                          assertThat(candidate.fields())
                              .containsEntry(
                                  field.getKey(),
                                  field.getValue().isNumber()
                                      ? field.getValue().asLong()
                                      : field.getValue().asString()));
            });
    assertThat(inspection.refusals())
        .extracting(Refusal::format)
        .doesNotContain(row.path("format").asString());
  }

  @ParameterizedTest
  @MethodSource("invalid")
  void refusesWhatTheFormatsRefuse(JsonNode row) {
    Inspection inspection = inspect(row.path("text").asString());

    String format = row.path("format").asString();
    assertThat(inspection.candidates())
        .as("%s", inspection)
        .noneMatch(candidate -> candidate.format().startsWith(format));
    if (row.has("flaw")) {
      assertThat(inspection.refusals())
          .as("%s", inspection)
          .anyMatch(
              refusal ->
                  refusal.format().equals(format)
                      && refusal.flaw().wireName().equals(row.path("flaw").asString()));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "ch_4KIWSf8WvPNoQDBwStVIDYHU, public_id",
    "017f22e2-79b0-7cc3-98c4-dc0c0c07398f, uuid.v7",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV, ulid sandflake",
    "01h455vb4pex5vsknk084sn02q, typeid ulid",
    "507f1f77bcf86cd799439011, objectid xid",
    "645100FA00002A9F000000489A3AA09E, rocketmq.offset rocketmq.unique",
    "42, auto_increment",
    "cjld2cjxh0000qzrmn831i7rn, cuid"
  })
  void theLikelierComesFirst(String text, String formats) {
    assertThat(inspect(text).candidates())
        .extracting(Candidate::format)
        .containsExactly(formats.split(" "));
  }

  @Test
  void aNumberThatManyLayoutsReadIsOnlyPossible() {
    assertThat(inspect("175928847299117063").candidates())
        .allMatch(candidate -> candidate.certainty() == Certainty.POSSIBLE)
        .extracting(Candidate::format)
        .contains("snowflake.discord", "snowflake.twitter", "auto_increment");
  }

  /** The same number some centuries later, or in the future, is none of that layout. */
  @Test
  void aTimeThatIsToComeIsNoTimeOfCreation() {
    long future = SnowflakeLayout.DEFAULT.key(position("2026-11-24T00:00:00Z"), 5);
    long present = SnowflakeLayout.DEFAULT.key(position("2026-11-22T00:00:00Z"), 5);

    assertThat(formats(future)).doesNotContain("snowflake.default");
    assertThat(inspect(Long.toString(present)).candidates())
        .first()
        .satisfies(
            first -> {
              assertThat(first.format()).isEqualTo("snowflake.default");
              assertThat(first.time()).contains(Instant.parse("2026-11-22T00:00:00Z"));
              assertThat(first.fields()).containsEntry("worker", 5L).containsEntry("sequence", 0L);
            });
  }

  @Test
  void ticksAndTheOrderOfTheFieldsAreThoseOfTheType() {
    SnowflakeLayout layout = SnowflakeLayout.accepted("39x4/4/s12/8@1672531200000");
    long position = layout.position(Instant.parse("2026-01-02T03:04:05.008Z").toEpochMilli());
    long key = layout.key(position + 77, layout.worker(3, 201));

    assertThat(Inspector.inspect(Long.toString(key), List.of(layout), NOW).candidates())
        .anySatisfy(
            candidate -> {
              assertThat(candidate.format()).isEqualTo("snowflake." + layout.name());
              assertThat(candidate.time()).contains(Instant.parse("2026-01-02T03:04:05.008Z"));
              assertThat(candidate.fields())
                  .containsEntry("datacentre", 3L)
                  .containsEntry("sequence", 77L)
                  .containsEntry("worker", 201L);
            });
  }

  @Test
  void anAddressOfANetworkCardIsGivenAwayAndARandomNodeIsNot() {
    assertThat(inspect("c232ab00-9414-11ec-b3c8-9e6bdeced846").candidates())
        .singleElement()
        .satisfies(
            found ->
                assertThat(found.reveals())
                    .containsExactly(Reveal.CREATION_TIME, Reveal.MACHINE_ADDRESS));
    assertThat(inspect("c232ab00-9414-11ec-b3c8-9f6bdeced846").candidates())
        .singleElement()
        .satisfies(found -> assertThat(found.reveals()).containsExactly(Reveal.CREATION_TIME));
  }

  /** Any text has an answer; most texts are nothing. For longer, and guided: {@code build/fuzz}. */
  @Test
  void noTextWhateverMakesAReaderFail() {
    Random random = new Random(SEED);
    List<String> seeds = texts("valid.json", "invalid.json");
    for (int i = 0; i < 50_000; i++) {
      StringBuilder text = new StringBuilder(seeds.get(random.nextInt(seeds.size())));
      for (int changes = random.nextInt(4); changes > 0; changes--) {
        int at = random.nextInt(text.length() + 1);
        char any = (char) (random.nextInt(8) == 0 ? random.nextInt(0x1_0000) : random.nextInt(128));
        if (random.nextBoolean() || at == text.length()) {
          text.insert(at, any);
        } else {
          text.setCharAt(at, any);
        }
      }
      String changed = text.toString();
      assertThatCode(() -> TextFuzz.read(changed))
          .as("-Dseed=%d %s", SEED, changed)
          .doesNotThrowAnyException();
    }
  }

  /** The texts of the vectors. */
  static List<String> texts(String... files) {
    return Arrays.stream(files)
        .flatMap(InspectorTest::vectors)
        .map(row -> row.path("text").asString())
        .toList();
  }

  private static List<String> formats(long key) {
    return inspect(Long.toString(key)).candidates().stream().map(Candidate::format).toList();
  }

  private static long position(String time) {
    return SnowflakeLayout.DEFAULT.position(Instant.parse(time).toEpochMilli());
  }

  private static Inspection inspect(String text) {
    return Inspector.inspect(text, List.of(), NOW);
  }

  private static Stream<JsonNode> vectors(String file) {
    String path = "/vectors/inspect/" + file;
    try (InputStream in =
        Objects.requireNonNull(InspectorTest.class.getResourceAsStream(path), path)) {
      JsonNode rows = JsonMapper.shared().readTree(in);
      return StreamSupport.stream(rows.spliterator(), false);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  @ParameterizedTest
  @CsvSource({"default, 3600", "41/10/12@1672531200000, 3600", "29x1000/21/13@1795000000000, 5"})
  void theFirstDayOfOwnLayoutsIsRead(String name, long seconds) {
    SnowflakeLayout layout = SnowflakeLayout.accepted(name);
    long millis = layout.epochMillis() + seconds * 1_000;
    String key = Long.toString(layout.key(layout.position(millis), 3));

    assertThat(Inspector.inspect(key, List.of(layout), NOW.plusSeconds(400_000_000)).candidates())
        .filteredOn(candidate -> candidate.format().equals("snowflake." + layout.name()))
        .singleElement()
        .satisfies(one -> assertThat(one.time()).contains(Instant.ofEpochMilli(millis)));
    assertThat(inspect(key).candidates())
        .noneMatch(candidate -> candidate.format().equals("snowflake." + layout.name()));
  }

  @Test
  void theFirstKeysOfANewLayoutAreReadAtOnceAndSmallNumbersAreNoneLater() {
    SnowflakeLayout layout = SnowflakeLayout.accepted("41/10/12@" + NOW.toEpochMilli());
    String first = Long.toString(layout.key(layout.position(NOW.toEpochMilli() + 1), 0));
    String format = "snowflake." + layout.name();

    assertThat(Inspector.inspect(first, List.of(layout), NOW).candidates())
        .anyMatch(candidate -> candidate.format().equals(format));
    assertThat(
            Inspector.inspect(
                    Long.toString((1L << 32) - 1), List.of(layout), NOW.plusSeconds(86_400))
                .candidates())
        .noneMatch(candidate -> candidate.format().equals(format));
  }

  @Test
  void anObjectIdGivesAwayTheVolume() {
    assertThat(read("507f1f77bcf86cd799439011", "objectid").reveals())
        .containsExactly(Reveal.CREATION_TIME, Reveal.VOLUME);
  }

  @Test
  void aSnoTellsTheTickAndTheWorkerOfItsKey() {
    SnowflakeLayout layout = LeasedSnos.LAYOUT;
    long key = layout.key(layout.position(AT.toEpochMilli()) + 5, 200);

    String text = LeasedSnos.of(key, 77).toString();

    assertThat(read(text, "sno").time()).contains(AT.minusMillis(1));
    assertThat(read(text, "sno").fields())
        .containsEntry("tick_tock", 0L)
        .containsEntry("metabyte", 77L)
        .containsEntry("partition", 200L)
        .containsEntry("sequence", (1L << 14) + 5);
  }

  @Test
  void aMessageIdentifierTellsTheSecondOfItsKeyAndAnAddressThatNoCardHas() {
    SnowflakeLayout layout = RocketMqId.LAYOUT;
    long key = layout.key(layout.position(AT.toEpochMilli()) + 5, 200);

    String text = RocketMqId.of(key);

    assertThat(text).hasSize(34).startsWith("0102636F6174C80001");
    assertThat(read(text, "rocketmq.v1").time()).contains(Instant.parse("2026-11-22T12:34:56Z"));
    assertThat(read(text, "rocketmq.v1").fields())
        .containsEntry("mac", "02:63:6f:61:74:c8")
        .containsEntry("sequence", (789L << 14) + 5);
  }

  /** And in the order of the keys of a worker. */
  @Test
  void keysThatDifferHaveTextsThatDiffer() {
    Random random = new Random(7);
    Set<String> snos = new HashSet<>();
    Set<String> messages = new HashSet<>();
    String sno = "";
    String message = "";
    long position = LeasedSnos.LAYOUT.position(AT.toEpochMilli());
    for (int i = 0; i < 50_000; i++) {
      position += 1 + random.nextInt(random.nextInt(100) == 0 ? 100_000 : 3);
      SnoId nextSno = LeasedSnos.of(LeasedSnos.LAYOUT.key(position, 3), 0);
      assertThat(nextSno.toString()).isGreaterThan(sno);
      sno = nextSno.toString();
      snos.add(sno);
      String nextMessage =
          RocketMqId.of(
              RocketMqId.LAYOUT.key(
                  RocketMqId.LAYOUT.position(LeasedSnos.LAYOUT.millisOf(position))
                      + (position & LeasedSnos.LAYOUT.sequenceMax()),
                  3));
      assertThat(nextMessage).isGreaterThan(message);
      message = nextMessage;
      messages.add(message);
    }
    assertThat(snos).hasSize(50_000);
    assertThat(messages).hasSize(50_000);
  }

  private static Candidate read(String text, String format) {
    return Inspector.inspect(text, List.of(), AT).candidates().stream()
        .filter(found -> found.format().equals(format))
        .findFirst()
        .orElseThrow();
  }
}
