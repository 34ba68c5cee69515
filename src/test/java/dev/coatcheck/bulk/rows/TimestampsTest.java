package dev.coatcheck.bulk.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimestampsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "2019-02-31T08:15:00Z",
        "2019-04-30T24:00:00Z",
        "+10000-01-01T00:00:00Z",
        "+999999999-12-31T00:00:00Z",
        "-999999999-01-01T00:00:00Z"
      })
  void aTimeThatIsOnNoCalendarIsRefused(String text) {
    assertThat(Timestamps.parse(text)).isEmpty();
  }

  @Test
  void bothFormsAreRead() {
    Instant time = Instant.parse("2020-02-29T04:05:06.789Z");

    assertThat(Timestamps.parse("2020-02-29T04:05:06.789Z")).contains(time);
    assertThat(Timestamps.parse("2020-02-29 09:50:06.789+05:45")).contains(time);
    assertThat(Timestamps.parse("2020-02-29 04:05:06.789+00")).contains(time);
    assertThat(Timestamps.parse("0000-01-01T00:00:00+18:00")).isPresent();
  }
}
