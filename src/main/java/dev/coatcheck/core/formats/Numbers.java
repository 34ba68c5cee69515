package dev.coatcheck.core.formats;

import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.formats.Reading.Certainty;
import dev.coatcheck.core.formats.Reading.Flaw;
import dev.coatcheck.core.formats.Reading.Refusal;
import dev.coatcheck.core.formats.Reading.Reveal;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Decimal numbers: the Snowflake family, whose members all look alike, and numbers of sequences.
 * Also TSIDs, which are Snowflake numbers in 13 digits of Crockford's base 32. A TSID doesn't tell
 * where its node ends and its counter begins; the widths here are the default.
 *
 * <p>Sources: twitter-archive/snowflake (snowflake-2010); Discord's API reference; github.com/
 * sony/sonyflake, baidu/uid-generator, Meituan-Dianping/Leaf, Ahoo-Wang/CosId, RobThree/IdGen,
 * f4b6a3/tsid-creator; the article "Sharding &amp; IDs at Instagram".
 */
final class Numbers implements Format {
  private static final String FAMILY = "snowflake";
  private static final int DIGITS_MAX = 20;
  private static final long BUCKET_MILLIS = 864_000_000;
  private static final Instant DISCORD_EPOCH = Instant.parse("2015-01-01T00:00:00Z");
  private static final Instant COSID_EPOCH = Instant.parse("2019-12-24T16:00:00Z");
  private static final String USUAL = "time:41 worker:10 sequence:12";
  private static final String SONYFLAKE = "time:39 sequence:8 machine:16";

  private static final int TSID_LENGTH = 13;
  private static final NumberLayout TSID =
      NumberLayout.of(
          "tsid", Instant.parse("2020-01-01T00:00:00Z"), 1, "time:42 node:10 counter:12");

  private static final List<NumberLayout> LAYOUTS =
      List.of(
          NumberLayout.of(
              "snowflake.discord", DISCORD_EPOCH, 1, "time:42 worker:5 process:5 increment:12"),
          NumberLayout.of(
              "snowflake.sonyflake", Instant.parse("2025-01-01T00:00:00Z"), 10, SONYFLAKE),
          NumberLayout.of(
              "snowflake.sonyflake", Instant.parse("2014-09-01T00:00:00Z"), 10, SONYFLAKE),
          NumberLayout.of(
              "snowflake.instagram",
              Instant.ofEpochMilli(1_314_220_021_721L),
              1,
              "time:41 shard:13 sequence:10"),
          TSID,
          NumberLayout.of(
              "snowflake.leaf",
              Instant.ofEpochMilli(SnowflakeLayout.TWITTER.epochMillis()),
              1,
              USUAL),
          NumberLayout.of(
              "snowflake.uid-generator",
              Instant.ofEpochSecond(1_463_673_600L),
              1_000,
              "time:28 worker:22 sequence:13"),
          NumberLayout.of("snowflake.cosid", COSID_EPOCH, 1, USUAL),
          NumberLayout.of(
              "snowflake.cosid-seconds", COSID_EPOCH, 1_000, "time:31 machine:10 sequence:22"),
          NumberLayout.of("snowflake.idgen", DISCORD_EPOCH, 1, USUAL));

  /** In a layout of milliseconds, IDs after this time exceed any number of 32 bits. */
  private static final Duration OWN_SINCE = Duration.ofSeconds(2);

  private final List<NumberLayout> layouts;
  private final Set<NumberLayout> own;

  Numbers(Collection<SnowflakeLayout> own) {
    this.own = own.stream().map(NumberLayout::of).collect(Collectors.toSet());
    this.layouts =
        Stream.concat(
                Stream.concat(SnowflakeLayout.NAMED.stream(), own.stream())
                    .distinct()
                    .map(NumberLayout::of),
                LAYOUTS.stream())
            .toList();
  }

  @Override
  public List<Reading> read(String text, Instant now) {
    if (text.isEmpty() || text.length() > DIGITS_MAX) {
      return List.of();
    }
    return Digits.DECIMAL.strangerAt(text) < 0 ? decimal(text, now) : tsid(text, now);
  }

  private static List<Reading> tsid(String text, Instant now) {
    if (!Digits.BASE62.spell(text, TSID_LENGTH)) {
      return List.of(); // letters beyond ASCII may have capitals within it
    }
    String digits = text.toUpperCase(Locale.ROOT);
    if (Digits.CROCKFORD.strangerAt(digits) >= 0) {
      return List.of();
    }
    BigInteger value = Digits.CROCKFORD.value(digits);
    if (value.bitLength() > Long.SIZE) {
      return List.of(new Refusal("tsid", Flaw.OVERFLOW, "64 bits begin with a digit from 0 to F."));
    }
    return TSID.read(value, secondDay(TSID), now).map(List::<Reading>of).orElse(List.of());
  }

  private List<Reading> decimal(String text, Instant now) {
    if (text.length() > 1 && text.charAt(0) == '0') {
      return List.of(
          new Refusal(FAMILY, Flaw.PADDING, "A number is written without zeros in front."));
    }
    BigInteger value = Digits.DECIMAL.value(text);
    if (value.bitLength() > Long.SIZE) {
      return List.of(
          new Refusal(FAMILY, Flaw.OVERFLOW, "64 bits end at the number 18446744073709551615."));
    }
    List<Reading> found = new ArrayList<>();
    for (NumberLayout layout : layouts) {
      layout
          .read(value, since(layout, now), now)
          .map(one -> more(layout, one, value))
          .ifPresent(found::add);
    }
    if (value.signum() > 0 && value.bitLength() < Long.SIZE) {
      found.add(
          Candidate.of("auto_increment", Certainty.POSSIBLE).sortable().revealing(Reveal.VOLUME));
    }
    return found;
  }

  /**
   * The earliest time at which a number counts as an ID of the layout: the second day, because
   * smaller numbers are more likely something else. Own keys count almost from the epoch on, and
   * during the first day from the epoch on.
   */
  private Instant since(NumberLayout layout, Instant now) {
    if (!own.contains(layout)) {
      return secondDay(layout);
    }
    return now.isBefore(secondDay(layout)) ? layout.epoch() : layout.epoch().plus(OWN_SINCE);
  }

  private static Instant secondDay(NumberLayout layout) {
    return layout.epoch().plus(AHEAD_MAX);
  }

  /** Adds what the fields imply. */
  private static Candidate more(NumberLayout layout, Candidate found, BigInteger value) {
    return switch (layout.format()) {
      case "snowflake.discord" ->
          found.with("bucket", value.shiftRight(22).longValueExact() / BUCKET_MILLIS);
      case "snowflake.sonyflake" ->
          found
              .with("epoch", layout.epoch().toString())
              .with("private_address_end", addressEnd(value.intValue() & 0xffff))
              .revealing(Reveal.MACHINE_ADDRESS);
      default -> found;
    };
  }

  /** By default the machine is the lower half of its private IPv4 address. */
  private static String addressEnd(int machine) {
    return (machine >> Byte.SIZE) + "." + (machine & 0xff);
  }
}
