package dev.coatcheck.core.formats;

import static dev.coatcheck.FuzzTexts.requireSame;

import dev.coatcheck.FuzzTexts;
import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.key.LayoutParse;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.older.Decoded;
import dev.coatcheck.core.older.Hashids;
import dev.coatcheck.core.older.Sqids;
import dev.coatcheck.core.older.TypeIds;
import dev.coatcheck.core.older.Uuids;
import dev.coatcheck.core.scheme.SnoId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Gives a text to everything that reads IDs of strangers. A reader has an answer to any text, and
 * what it accepts it writes back as the same text. {@code build/fuzz} runs this under Jazzer.
 */
public final class TextFuzz {
  private static final Instant NOW = Instant.parse("2026-11-23T00:00:00Z");
  private static final Hashids HASHIDS = new Hashids("salt", Hashids.DEFAULT_ALPHABET, 8);
  private static final Sqids SQIDS = new Sqids(Sqids.DEFAULT_ALPHABET, 0);
  private static final Uuids UUIDS = new Uuids();
  private static final TypeIds TYPE_IDS = new TypeIds("user");
  private static final List<SnowflakeLayout> LAYOUTS =
      List.of(
          SnowflakeLayout.accepted("39x10/s8/16@1735689600000"),
          SnowflakeLayout.accepted("39x4/4/s12/8@1672531200000"));

  private TextFuzz() {}

  /** By the name that Jazzer calls. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    read(new String(bytes, StandardCharsets.UTF_8));
  }

  static void read(String text) {
    Inspector.Inspection _ = Inspector.inspect(text, LAYOUTS, NOW);
    if (PublicId.parse(text) instanceof ParsedId.Valid(PublicId id)) {
      requireSame(text, id.toString());
    }
    HASHIDS.decode(text).ifPresent(number -> requireSame(text, HASHIDS.encode(number(number))));
    SQIDS.decode(text).ifPresent(TextFuzz::number);
    UUIDS.decode(text).ifPresent(decoded -> requireSame(text, key(decoded).text()));
    TYPE_IDS.decode(text).ifPresent(TextFuzz::key);
    SnoId.parse(text).ifPresent(id -> requireSame(text, id.toString()));
    for (KeyKind kind : KeyKind.values()) {
      kind.parse(text).ifPresent(key -> requireSame(text, key.text()));
    }
    if (SnowflakeLayout.parse(text, NOW) instanceof LayoutParse.Known(SnowflakeLayout layout)) {
      requireSame(layout.name(), SnowflakeLayout.accepted(layout.name()).name());
    }
  }

  private static long number(Decoded decoded) {
    if (decoded instanceof Decoded.OfNumber(long number) && number >= 0) {
      return number;
    }
    throw new AssertionError("no number: " + decoded);
  }

  private static Key key(Decoded decoded) {
    if (decoded instanceof Decoded.OfUuid(Key.Uuid key)) {
      return key;
    }
    throw new AssertionError("no UUID: " + decoded);
  }

  /** Writes texts to begin with into the folder of the argument. */
  public static void main(String[] arguments) throws IOException {
    List<String> texts = new ArrayList<>(InspectorTest.texts("valid.json", "invalid.json"));
    texts.addAll(
        Arrays.asList(
            HASHIDS.encode(4_711),
            SQIDS.encode(4_711),
            "user_01h455vb4pex5vsknk084sn02q",
            "ch_4KIWSf8WvPNoQDBwStVIDYHU",
            "41/5+5/12@1288834974657",
            "39x4/4/s12/8@1672531200000"));
    FuzzTexts.write(arguments[0], texts.toArray(String[]::new));
  }
}
