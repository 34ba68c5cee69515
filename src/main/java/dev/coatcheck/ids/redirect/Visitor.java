package dev.coatcheck.ids.redirect;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A client without an API key, told by its address: an IPv4 address, or the /64 of an IPv6 address,
 * which is the smallest network that a household gets.
 */
public record Visitor(boolean isIpv6, long network) {
  private static final Visitor UNKNOWN = new Visitor(false, -1);

  /**
   * By an address.
   *
   * @param address a literal; all other texts count as one and the same visitor
   */
  public static Visitor at(String address) {
    try {
      InetAddress parsed = InetAddress.ofLiteral(address);
      ByteBuffer bytes = ByteBuffer.wrap(parsed.getAddress());
      return parsed instanceof Inet6Address
          ? new Visitor(true, bytes.getLong())
          : new Visitor(false, Integer.toUnsignedLong(bytes.getInt()));
    } catch (IllegalArgumentException unreadable) {
      return UNKNOWN;
    }
  }

  /**
   * The network around it, {@code 203.0.113.0/24} or {@code 2001:db8:7::/48}; empty if its address
   * is unknown.
   */
  Optional<String> range() {
    if (equals(UNKNOWN)) {
      return Optional.empty();
    }
    return Optional.of(
        isIpv6
            ? ipv6Range()
            : (network >>> 24) + "." + (network >>> 16 & 0xFF) + "." + (network >>> 8 & 0xFF)
                + ".0/24");
  }

  /** In the spelling of RFC 5952: the last run of zeros is the longest one, and left out. */
  private String ipv6Range() {
    StringBuilder groups = new StringBuilder();
    for (long left = network >>> 16 << 16; left != 0; left <<= 16) {
      groups.append(groups.isEmpty() ? "" : ":").append(Long.toHexString(left >>> 48));
    }
    return groups + "::/48";
  }
}
