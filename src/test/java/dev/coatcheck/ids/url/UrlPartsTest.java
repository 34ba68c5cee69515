package dev.coatcheck.ids.url;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class UrlPartsTest {
  private static final int ROUNDS = 50_000;
  private static final String ID = "ch_00000000000000000000002B";
  private static final String[] PIECES = {
    "/", "/", "/a", "/" + ID, "?", "&", "=", ",", "%2C", "%2c", ".", ":", ";", "%", "%41", "%2e",
    "%2F", "%25", "%C3%B6", "%c3", "x=", ID, "%63h_", "+", "@", "//", "..", "|", "#", " ", "\\"
  };

  /** Places never overlap, stand in their order, and only they change. */
  @Test
  void whatIsInNoPlacePassesByteForByte() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int valid = 0;
    for (int round = 0; round < ROUNDS; round++) {
      String text = text(random);
      if (UrlParts.parse(text) instanceof UrlParts.Parsed.Valid(UrlParts url)) {
        valid++;
        List<UrlSlice> slices = new ArrayList<>(url.segments());
        slices.addAll(url.values());
        String others = "";
        int from = 0;
        for (UrlSlice slice : slices) {
          assertThat(slice.start()).as("seed %d: %s", seed, text).isGreaterThanOrEqualTo(from);
          others += text.substring(from, slice.start()) + "\0";
          from = slice.end();
        }
        others += text.substring(from);

        assertThat(url.with(slices, slices.stream().map(_ -> "\0").toList()))
            .as("seed %d: %s", seed, text)
            .isEqualTo(others);
        assertThat(url.with(List.of(), List.of())).isEqualTo(text);
        assertThat(text).as("seed %d", seed).doesNotContain("#", " ", "\\").doesNotStartWith("//");
      }
    }
    assertThat(valid).as("seed %d", seed).isGreaterThan(ROUNDS / 20);
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder("/");
    for (int pieces = random.nextInt(12); pieces > 0; pieces--) {
      text.append(PIECES[random.nextInt(PIECES.length)]);
    }
    return text.toString();
  }
}
