package dev.coatcheck.ids.access;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An address, or a network in CIDR notation: {@code 10.0.0.7}, {@code 10.1.0.0/16}, {@code
 * fd00::/8}.
 *
 * @param bits how many leading bits of the address its members share
 */
public record AddressRange(InetAddress address, int bits) {
  /** All four parts of an IPv4 address, in decimal: other programs read 010.0.0.1 as 8.0.0.1. */
  private static final String IPV4 = "(?:(?:0|[1-9][0-9]{0,2})\\.){3}(?:0|[1-9][0-9]{0,2})";

  private static final String IPV6 = "(?=[^:]*:)[0-9A-Fa-f:.]{2,45}";
  private static final Pattern TEXT =
      Pattern.compile("(" + IPV4 + "|" + IPV6 + ")(?:/(0|[1-9][0-9]{0,2}))?");

  /** Reads a range without asking a name server; empty if the text is none. */
  public static Optional<AddressRange> parse(String text) {
    Matcher parts = TEXT.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    return literal(parts.group(1))
        .map(
            address ->
                new AddressRange(
                    address,
                    parts.group(2) == null ? width(address) : Integer.parseInt(parts.group(2))))
        .filter(range -> range.bits <= width(range.address));
  }

  /** Like {@link #parse}; empty also if bits behind the network are set, as in 10.1.2.3/8. */
  public static Optional<AddressRange> parseNetwork(String text) {
    return parse(text).filter(range -> range.network().equals(range.address));
  }

  /** The address without the bits that its members don't share. */
  private InetAddress network() {
    byte[] bytes = address.getAddress();
    for (int bit = bits; bit < bytes.length * Byte.SIZE; bit++) {
      bytes[bit / 8] &= (byte) ~(0x80 >> bit % 8);
    }
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Whether a host of a URL is this machine alone: by its name, or by a loopback address. */
  public static boolean isLoopback(String host) {
    return host.equalsIgnoreCase("localhost")
        || literal(host.replaceAll("[\\[\\]]", ""))
            .filter(InetAddress::isLoopbackAddress)
            .isPresent();
  }

  /** Reads an address without asking a name server; empty if the text is none. */
  public static Optional<InetAddress> literal(String text) {
    try {
      return Optional.of(InetAddress.ofLiteral(text));
    } catch (IllegalArgumentException none) {
      return Optional.empty();
    }
  }

  /** As {@link #parse}, of a single address: in no spelling that programs read differently. */
  static Optional<InetAddress> plainAddress(String text) {
    return text.indexOf('/') < 0 ? parse(text).map(AddressRange::address) : Optional.empty();
  }

  public boolean holds(InetAddress other) {
    byte[] ours = address.getAddress();
    byte[] theirs = other.getAddress();
    if (ours.length != theirs.length) {
      return false;
    }
    for (int bit = 0; bit < bits; bit++) {
      if (((ours[bit / 8] ^ theirs[bit / 8]) & (0x80 >> bit % 8)) != 0) {
        return false;
      }
    }
    return true;
  }

  /** Whether every address of the other range is in this one. */
  public boolean holds(AddressRange other) {
    return other.bits >= bits && holds(other.address);
  }

  private static int width(InetAddress address) {
    return address.getAddress().length * Byte.SIZE;
  }

  @Override
  public String toString() {
    return address.getHostAddress() + "/" + bits;
  }
}
