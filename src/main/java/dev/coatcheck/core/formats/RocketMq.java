package dev.coatcheck.core.formats;

import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.formats.Reading.Certainty;
import dev.coatcheck.core.formats.Reading.Flaw;
import dev.coatcheck.core.formats.Reading.Refusal;
import dev.coatcheck.core.formats.Reading.Reveal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Identifiers of RocketMQ messages, in hexadecimal digits.
 *
 * <pre>
 * | 01 | MAC 48 | process 16 | seconds since 2021 32 | sequence 32 |          version 1
 * | IP 32, 128 | process 16 | class loader 32 | millis of month 32 | counter 16 |  unique
 * | IP 32, 128 | port 32 | offset in the commit log 64 |                      offset
 * </pre>
 *
 * A unique identifier contains neither its month nor the time zone of its producer. Sources: {@code
 * docs/message_id.md} of github.com/apache/rocketmq-clients; {@code MessageClientIDSetter} and
 * {@code MessageDecoder} of github.com/apache/rocketmq.
 */
final class RocketMq implements Format {
  private static final String VERSION_1 = "rocketmq.v1";
  private static final int VERSION_1_LENGTH = 34;
  private static final int SHORT_LENGTH = 32;
  private static final int LONG_LENGTH = 56;
  private static final int BITS_PER_DIGIT = 4;
  private static final int IPV4_BITS = 32;
  private static final int IPV6_BITS = 128;
  private static final int PORT_MAX = 65_535;
  private static final int DEFAULT_PORT = 10_911;
  private static final Instant EPOCH = Instant.parse("2021-01-01T00:00:00Z");

  /** For any month in any time zone. */
  private static final long MONTH_MILLIS_MAX = Duration.ofDays(32).toMillis();

  @Override
  public List<Reading> read(String text, Instant now) {
    String digits = text.toLowerCase(Locale.ROOT);
    if (digits.length() != text.length() || Digits.HEX.strangerAt(digits) >= 0) {
      return List.of();
    }
    return switch (text.length()) {
      case VERSION_1_LENGTH -> List.of(versioned(digits, now));
      case SHORT_LENGTH, LONG_LENGTH -> old(digits);
      default -> List.of();
    };
  }

  private static Reading versioned(String digits, Instant now) {
    if (!digits.startsWith("01")) {
      return new Refusal(VERSION_1, Flaw.VERSION, "34 digits begin with the version, 01.");
    }
    Bits bits = bits(digits);
    bits.number(8);
    String mac = HexFormat.ofDelimiter(":").formatHex(bits.bytes(48));
    long process = bits.number(16);
    Instant time = EPOCH.plusSeconds(bits.number(32));
    return Candidate.of(VERSION_1, Format.byTime(time, EPOCH, now))
        .at(time)
        .with("mac", mac)
        .with("process", process)
        .with("sequence", bits.number(32))
        .sortable()
        .revealing(Reveal.MACHINE_ADDRESS, Reveal.PROCESS, Reveal.VOLUME);
  }

  private static List<Reading> old(String digits) {
    List<Reading> found = new ArrayList<>();
    offset(digits).ifPresent(found::add);
    unique(digits).ifPresent(found::add);
    return found;
  }

  private static Optional<Candidate> unique(String digits) {
    Bits bits = bits(digits);
    String address = address(bits, digits);
    long process = bits.number(16);
    String loader = bits.hex(32);
    long millis = bits.number(32);
    if (millis > MONTH_MILLIS_MAX) {
      return Optional.empty();
    }
    return Optional.of(
        Candidate.of("rocketmq.unique", Certainty.POSSIBLE)
            .with("address", address)
            .with("process", process)
            .with("class_loader", loader)
            .with("millis_of_month", millis)
            .with("counter", bits.number(16))
            .revealing(Reveal.MACHINE_ADDRESS, Reveal.PROCESS, Reveal.VOLUME));
  }

  private static Optional<Candidate> offset(String digits) {
    Bits bits = bits(digits);
    String address = address(bits, digits);
    long port = bits.number(32);
    BigInteger offset = new BigInteger(bits.hex(64), 16);
    if (port == 0 || port > PORT_MAX || offset.bitLength() == Long.SIZE) {
      return Optional.empty();
    }
    return Optional.of(
        Candidate.of(
                "rocketmq.offset", port == DEFAULT_PORT ? Certainty.LIKELY : Certainty.POSSIBLE)
            .with("address", address)
            .with("port", port)
            .with("offset", offset.toString())
            .revealing(Reveal.MACHINE_ADDRESS, Reveal.VOLUME));
  }

  private static Bits bits(String digits) {
    return new Bits(Digits.HEX.value(digits), digits.length() * BITS_PER_DIGIT);
  }

  private static String address(Bits bits, String digits) {
    byte[] address = bits.bytes(digits.length() == LONG_LENGTH ? IPV6_BITS : IPV4_BITS);
    try {
      return InetAddress.getByAddress(address).getHostAddress();
    } catch (UnknownHostException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
