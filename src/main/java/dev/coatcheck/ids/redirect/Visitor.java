package dev.coatcheck.ids.redirect;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/**
 * A client without an API key, told by its address: an IPv4 address, or the /64 of an IPv6 address,
 * which is the smallest network that a household gets.
 */
public record Visitor(boolean isIpv6, long network) {

  public static Visitor at(InetAddress address) {
    ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
    return address instanceof Inet6Address
        ? new Visitor(true, bytes.getLong())
        : new Visitor(false, Integer.toUnsignedLong(bytes.getInt()));
  }

  /** The network around it, {@code 203.0.113.0/24} or {@code 2001:db8:7::/48}. */
  String range() {
    return isIpv6
        ? ipv6Range()
        : (network >>> 24) + "." + (network >>> 16 & 0xFF) + "." + (network >>> 8 & 0xFF) + ".0/24";
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
