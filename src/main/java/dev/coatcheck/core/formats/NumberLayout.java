package dev.coatcheck.core.formats;

import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.formats.Reading.Certainty;
import dev.coatcheck.core.formats.Reading.Reveal;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * How the bits of a number of the Snowflake family are divided.
 *
 * @param tickMillis the unit of its time
 * @param fields the highest first; together 63 bits, or 64 without a sign
 */
record NumberLayout(String format, Instant epoch, long tickMillis, List<Field> fields) {
  private static final String TIME = "time";

  private static final String SEQUENCE = "sequence";

  record Field(String name, int bits) {}

  NumberLayout {
    fields = List.copyOf(fields);
  }

  /** Parses fields such as {@code time:41 worker:10 sequence:12}. */
  static NumberLayout of(String format, Instant epoch, long tickMillis, String fields) {
    return new NumberLayout(
        format,
        epoch,
        tickMillis,
        Arrays.stream(fields.split(" "))
            .map(field -> field.split(":"))
            .map(parts -> new Field(parts[0], Integer.parseInt(parts[1])))
            .toList());
  }

  static NumberLayout of(SnowflakeLayout layout) {
    List<Field> fields = new ArrayList<>();
    fields.add(new Field(TIME, layout.timeBits()));
    layout.workerFields().forEach(field -> fields.add(new Field(field.name(), field.bits())));
    fields.add(fields.size() - layout.fieldsBelow(), new Field(SEQUENCE, layout.sequenceBits()));
    return new NumberLayout(
        "snowflake." + layout.name(),
        Instant.ofEpochMilli(layout.epochMillis()),
        layout.tickMillis(),
        fields);
  }

  /**
   * The fields of a number; empty if it is too large or its time is not from {@code since} to now.
   */
  Optional<Candidate> read(BigInteger value, Instant since, Instant now) {
    int width = fields.stream().mapToInt(Field::bits).sum();
    if (value.bitLength() > width) {
      return Optional.empty();
    }
    Bits bits = new Bits(value, width);
    Candidate found = Candidate.of(format, Certainty.POSSIBLE);
    for (Field field : fields) {
      long number = bits.number(field.bits());
      if (!field.name().equals(TIME)) {
        found = found.with(field.name(), number);
        continue;
      }
      Instant time = epoch.plusMillis(number * tickMillis);
      if (!Format.isPlausible(time, since, now)) {
        return Optional.empty();
      }
      found = found.at(time);
    }
    return Optional.of(found.sortable().revealing(Reveal.MACHINE, Reveal.VOLUME));
  }
}
